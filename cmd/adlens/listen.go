package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// listenOn listens on the address of a flag. The error names the address, what is
// wrong with it, and what to do.
func listenOn(flag, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is %q; expected HOST:PORT with a port up to 65535, like 127.0.0.1:8080 or :8080", flag, address)
	}
	listener, err := net.Listen("tcp", address)
	var unknown *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s %s is in use, maybe by another adlens serve or adlens demo; stop that one, or choose another address, like %s 127.0.0.1:%s", flag, address, flag, portAfter(port))
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s %s: this user may not use port %s; choose a port from 1024 on, like %s 127.0.0.1:8080", flag, address, port, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &unknown):
		return nil, fmt.Errorf("%s is %q; %s is no address of this machine; expected one, like 127.0.0.1, or none for all", flag, address, host)
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return listener, nil
}

// portAfter is the port after one, for an example.
func portAfter(port string) string {
	if n, err := strconv.Atoi(port); err == nil && 1024 <= n && n < 65_535 {
		return strconv.Itoa(n + 1)
	}
	return "8081"
}
