package auth

import (
	"encoding/hex"
	"strings"
	"testing"
	"testing/cryptotest"

	"pgregory.net/rapid"
)

// goodKeys were made with Python's zlib.crc32, so that the checksum is not
// only right in its own eyes.
var goodKeys = []string{
	"key_live_0000000000000000000000000000002TEjRp",
	"key_live_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz0VecVy",
	"key_live_abcdefghijklmnopqrstuvwxyz012324rMIx",
	"key_live_ABCDEFGHIJKLMNOPQRSTUVWXYZ98761nugbO",
	"key_live_Ky9Pf34qY6Nb3wWD25RQ4F5ZR3qa7y124QWU",
	"key_live_Eeeby3abP3E2Zs8IQ9Y7aJZqhB6bae2K5eIQ",
	"key_live_CN6Zj4a3dDVhYRnKTbxTNJFoBinF5a0peqax",
	"key_live_JXVuLkSIc47WQAmL9xVQ2zg4mZaouq0mCoiE",
	"key_live_00000000000000000000000000011700Kn0W", // two padding zeros
}

func TestAKeyWithARightChecksumIsParsed(t *testing.T) {
	for _, text := range goodKeys {
		key, ok := ParseKey(text)
		if !ok || key.Reveal() != text || key.Start() != text[:13] {
			t.Errorf("%s: got %v, %t", text, key, ok)
		}
	}
}

func TestTheHashIsSHA256OfTheWholeText(t *testing.T) {
	key, _ := ParseKey(goodKeys[0])
	hash := key.Hash()
	if got := hex.EncodeToString(hash[:]); got != "faaa0983096d6703517dc365bde4aa5d0fcdf8b60eb3ea252a1f96d74ab4c0b3" {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsNoKeyIsNotParsed(t *testing.T) {
	good := goodKeys[4]
	for name, text := range map[string]string{
		"empty":                    "",
		"prefix alone":             "key_live_",
		"one character short":      good[:44],
		"one character long":       good + "0",
		"space before":             " " + good[:44],
		"space after":              good + " ",
		"newline after":            good + "\n",
		"newline for the last":     good[:44] + "\n",
		"another prefix":           "key_test_" + good[9:],
		"prefix in capitals":       "KEY_LIVE_" + good[9:],
		"no prefix":                good[9:],
		"character of no alphabet": withChecksum(good[:20] + "-" + good[21:39]),
		"underscore inside":        withChecksum(good[:20] + "_" + good[21:39]),
		"NUL inside":               withChecksum(good[:20] + "\x00" + good[21:39]),
		"two-byte character":       withChecksum(good[:20] + "é" + good[22:39]),
		"right checksum, no key":   withChecksum(strings.Repeat("x", 39)),
		"checksum in lower case":   good[:39] + strings.ToLower(good[39:]),
		"checksum beyond 32 bits":  good[:39] + "zzzzzz",
		"ten kilobytes":            "key_live_" + strings.Repeat("a", 10_000),
	} {
		if key, ok := ParseKey(text); ok || key.Reveal() != "" {
			t.Errorf("%s was taken for a key", name)
		}
	}
}

func TestEveryTypingErrorOfOneCharacterIsNoticed(t *testing.T) {
	for _, good := range goodKeys {
		for i := range good {
			for _, c := range base62 {
				if typo := good[:i] + string(c) + good[i+1:]; typo != good && parses(typo) {
					t.Errorf("%s passes for %s", typo, good)
				}
			}
		}
	}
}

func TestSwappedNeighboursAreNoticed(t *testing.T) {
	for _, good := range goodKeys {
		for i := 1; i < len(good); i++ {
			swapped := good[:i-1] + good[i:i+1] + good[i-1:i] + good[i+1:]
			if swapped != good && parses(swapped) {
				t.Errorf("%s passes for %s", swapped, good)
			}
		}
	}
}

func TestInventedKeysAreRefusedOffline(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	for range 100_000 {
		if text := keyPrefix + randomText(secretLength+checkLength); parses(text) {
			t.Fatalf("%s was accepted", text) // expected once in 2^32
		}
	}
}

func TestNewKeysParseAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		key := NewKey()
		parsed, ok := ParseKey(key.Reveal())
		if !ok || parsed.Hash() != key.Hash() || seen[key.Reveal()] {
			t.Fatalf("%s: parsed %t, seen before %t", key.Reveal(), ok, seen[key.Reveal()])
		}
		seen[key.Reveal()] = true
	}
}

// With 61 degrees of freedom, chi-square exceeds 125 once in 300,000 runs; a
// remainder by 62 of random bytes would give about 1,500 here.
func TestAllCharactersOfTheAlphabetAreEquallyLikely(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 2)
	const keys = 5000
	counts := map[byte]int{}
	for range keys {
		secret := NewKey().Reveal()[len(keyPrefix):][:secretLength]
		for i := range len(secret) {
			counts[secret[i]]++
		}
	}
	expected := float64(keys*secretLength) / float64(len(base62))
	chi := 0.0
	for i := range len(base62) {
		off := float64(counts[base62[i]]) - expected
		chi += off * off / expected
	}
	if chi > 125 || len(counts) != len(base62) {
		t.Errorf("chi-square is %.1f over %d characters", chi, len(counts))
	}
}

func TestEveryPlaceOfTheSecretTakesManyValues(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 3)
	seen := [secretLength]map[byte]bool{}
	for range 1000 {
		secret := NewKey().Reveal()[len(keyPrefix):]
		for i := range seen {
			if seen[i] == nil {
				seen[i] = map[byte]bool{}
			}
			seen[i][secret[i]] = true
		}
	}
	for i, values := range seen {
		if len(values) < len(base62)-2 {
			t.Errorf("place %d takes only %d values", i, len(values))
		}
	}
}

func TestOnlyTheKeysOwnTextParsesToItsHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringOfN(rapid.SampledFrom([]rune(base62)), secretLength, secretLength, -1).Draw(t, "secret")
		text := withChecksum(keyPrefix + secret)
		key, ok := ParseKey(text)
		if !ok || key.Reveal() != text || key.Start() != keyPrefix+secret[:4] {
			t.Fatalf("%s: got %v, %t", text, key, ok)
		}
	})
}

func FuzzParseKeyAcceptsOnlyWellFormedKeys(f *testing.F) {
	for _, text := range goodKeys {
		f.Add(text)
		f.Add(text[:44])
		f.Add("Bearer " + text)
	}
	f.Add("key_live_ééééééééééééééé012345")
	f.Fuzz(func(t *testing.T, text string) {
		key, ok := ParseKey(text)
		wellFormed := len(text) == 45 && strings.HasPrefix(text, "key_live_") &&
			strings.Trim(text[9:], base62) == "" && withChecksum(text[:39]) == text
		if ok != wellFormed || ok && key.Reveal() != text {
			t.Fatalf("%q: parsed %t, well-formed %t", text, ok, wellFormed)
		}
	})
}

func withChecksum(body string) string { return body + keyChecksum(body) }

func parses(text string) bool {
	_, ok := ParseKey(text)
	return ok
}
