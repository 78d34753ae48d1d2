package integration_test

import (
	"os"
	"strings"
	"testing"
)

// A server that is not ours: the engine of another installation.
func TestTheDoctorExaminesAServer(t *testing.T) {
	t.Parallel()
	needEngine(t)
	theirs := ownProgram(t)
	serve(t, theirs)
	healthy(t, theirs, "acct")
	server := asServer(t, theirs)

	ours := emptyProgram(t)
	healthyServer := doctor(t, ours, nil, "--clickhouse", server.loader(server.password))
	for _, f := range healthyServer {
		if strings.HasPrefix(f.Check, "file_") || f.Check == "data_directory" {
			t.Errorf("%s of a server that is not ours", f.Check)
		}
	}
	for _, f := range doctor(t, ours, []sick{{"engine", "failed", "does not let user"}}, "--clickhouse", server.loader("wr0ng")) {
		if strings.Contains(f.Detail, "wr0ng") {
			t.Errorf("the password is shown: %s", f.Detail)
		}
	}
	server.Close()
	doctor(t, ours, []sick{{"engine", "failed", "cannot be reached"}}, "--clickhouse", server.loader(server.password))
	if left, err := os.ReadDir(ours.DataDir); err != nil || len(left) > 0 {
		t.Errorf("our own data directory has %v: %v", left, err)
	}
}
