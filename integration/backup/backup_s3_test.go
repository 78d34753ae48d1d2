package backup_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Canaries: they must not be repeated anywhere.
const (
	storeUser   = "canary-store-user"
	storeSecret = "canary-store-secret-5d0e"
)

// inStore runs a command with the credentials of a store in its environment.
func inStore(t *testing.T, p *harness.Program, args ...string) harness.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	command := p.Command(ctx, args...)
	command.Env = append(command.Env, "AWS_ACCESS_KEY_ID="+storeUser, "AWS_SECRET_ACCESS_KEY="+storeSecret, "AWS_REGION=eu-central-1")
	var out, trouble bytes.Buffer
	command.Stdout, command.Stderr = &out, &trouble
	_ = command.Run() // how it ended stands in its state
	r := harness.Result{Code: command.ProcessState.ExitCode(), Stdout: out.String(), Stderr: trouble.String()}
	if strings.Contains(r.Stdout+r.Stderr, storeSecret) {
		t.Errorf("%v repeats the secret: %s", args, r)
	}
	return r
}

func TestABackupInAStoreIsRestored(t *testing.T) {
	t.Parallel()
	backend := s3mem.New()
	house.Need(t, backend.CreateBucket("keep"))
	store := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(store.Close)
	p := house.OwnProgram(t)
	figures, lists := house.FiguresAndLists(t, p, house.Seed(t), 2)
	at := []string{"--s3-endpoint", store.URL, "--s3-region", "eu-central-1"}
	run := func(p *harness.Program, args ...string) harness.Result { return inStore(t, p, append(args, at...)...) }
	for range 2 {
		house.Load(t, p, figures, figures.Take(1)...)
		if r := run(p, "backup", "--to", "s3://keep/some/where", "--keep", "1"); r.Code != 0 {
			t.Fatalf("backup: %s", r)
		}
	}
	if r := run(p, "backup", "verify", "--from", "s3://keep/some/where/"); r.Code != 0 || !strings.Contains(r.Stdout, "is whole") {
		t.Errorf("verify: %s", r)
	}
	if r := run(p, "backup", "list", "--from", "s3://keep/some/where", "--json"); strings.Count(r.Stdout, `"taken_at"`) != 1 {
		t.Errorf("list: %s", r)
	}
	house.MustRefuse(t, "no such bucket", run(p, "backup", "--to", "s3://nowhere/x"), "nowhere")
	house.MustRefuse(t, "another prefix", run(p, "backup", "verify", "--from", "s3://keep/else"), "no whole backup")
	restored := house.EmptyProgram(t)
	if r := run(restored, "restore", "--from", "s3://keep/some/where"); r.Code != 0 {
		t.Fatalf("restore: %s", r)
	}
	server := house.Serve(t, restored)
	for _, one := range []*house.Tenant{figures, lists} {
		one.Ask.Address = server.Address
		house.CheckAll(t, one.Ask, one.Model)
	}
}
