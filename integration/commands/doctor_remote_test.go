package commands_test

import (
	"os"
	"strings"
	"testing"

	"adlens/integration/house"
)

// A server that is not ours: the engine of another installation.
func TestTheDoctorExaminesAServer(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	theirs := house.OwnProgram(t)
	house.Serve(t, theirs)
	healthy(t, theirs, "acct")
	server := house.AsServer(t, theirs)

	ours := house.EmptyProgram(t)
	healthyServer := doctor(t, ours, nil, "--clickhouse", server.Loader(server.Password))
	for _, f := range healthyServer {
		if strings.HasPrefix(f.Check, "file_") || f.Check == "data_directory" {
			t.Errorf("%s of a server that is not ours", f.Check)
		}
	}
	for _, f := range doctor(t, ours, []sick{{"engine", "failed", "does not let user"}}, "--clickhouse", server.Loader("wr0ng")) {
		if strings.Contains(f.Detail, "wr0ng") {
			t.Errorf("the password is shown: %s", f.Detail)
		}
	}
	server.Close()
	doctor(t, ours, []sick{{"engine", "failed", "cannot be reached"}}, "--clickhouse", server.Loader(server.Password))
	if left, err := os.ReadDir(ours.DataDir); err != nil || len(left) > 0 {
		t.Errorf("our own data directory has %v: %v", left, err)
	}
}
