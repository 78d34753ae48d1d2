package auth

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

func TestAnAddressWaitsAfterTooManyWrongKeys(t *testing.T) {
	f := NewFailures()
	guesser, neighbour := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i := range failuresAllowed {
		if wait := f.Wait(guesser, at(i/10)); wait != 0 {
			t.Fatalf("failure %d has to wait %v", i, wait)
		}
		f.Note(guesser, at(i/10))
	}
	if wait := f.Wait(guesser, at(30)); wait != 30*time.Second {
		t.Errorf("the wait is %v, expected 30s", wait)
	}
	if wait := f.Wait(guesser, at(60)); wait != 0 {
		t.Errorf("a minute after the first failure the wait is %v", wait)
	}
	if wait := f.Wait(neighbour, at(30)); wait != 0 {
		t.Errorf("the neighbour has to wait %v", wait)
	}
}

func TestWhatCountsAsOneAddress(t *testing.T) {
	for _, same := range [][2]string{{"2001:db8::1", "2001:db8::ffff:1"}, {"::ffff:192.0.2.1", "192.0.2.1"}, {"fe80::1%eth0", "fe80::1%eth1"}} {
		if network(netip.MustParseAddr(same[0])) != network(netip.MustParseAddr(same[1])) {
			t.Errorf("%s and %s are two", same[0], same[1])
		}
	}
	for _, apart := range [][2]string{{"2001:db8::1", "2001:db8:0:1::1"}, {"192.0.2.1", "192.0.2.3"}} {
		if network(netip.MustParseAddr(apart[0])) == network(netip.MustParseAddr(apart[1])) {
			t.Errorf("%s and %s are one", apart[0], apart[1])
		}
	}
}

func TestAMillionAddressesNeedNoMoreMemoryThanTenThousand(t *testing.T) {
	f := NewFailures()
	for i := range 1_000_000 {
		var ip [4]byte
		binary.BigEndian.PutUint32(ip[:], uint32(i))
		f.Note(netip.AddrFrom4(ip), at(0))
	}
	if n := len(f.addresses); n > failuresSize {
		t.Errorf("%d addresses are remembered", n)
	}
}
