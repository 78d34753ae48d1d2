package main

import (
	"strings"
	"testing"
)

func TestThePlatformItselfIsNotAskedMoreOften(t *testing.T) {
	o := &options{dataDir: t.TempDir()}
	for _, command := range []string{"pull --account acme", "connect --account acme --region NA --client-id x"} {
		for pace, want := range map[string]string{
			"6": "--platform-pace is 6 without --platform-url; expected 1", "0": "--platform-pace is 0; expected 1 or more",
			"-6 --platform-url http://127.0.0.1:1": "--platform-pace is -6; expected 1 or more",
		} {
			if out, err := run(o, strings.Fields(command+" --platform-pace "+pace)...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s --platform-pace %s: want %q, got %v %s", command, pace, want, err, out)
			}
		}
	}
}
