package commands_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

func TestTheDoctorDoesNotMakeWhatIsMissing(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.EmptyProgram(t)
	doctor(t, p, []sick{{"data_directory", "failed", "holds no data of adlens"}})
	if entries, err := os.ReadDir(p.DataDir); err != nil || len(entries) > 0 {
		t.Errorf("the directory has %v now: %v", entries, err)
	}
	p.DataDir = filepath.Join(p.DataDir, "none")
	doctor(t, p, []sick{{"data_directory", "failed", "does not exist"}})
	if _, err := os.Stat(p.DataDir); err == nil {
		t.Error("the directory was made")
	}
}

// The first command may be killed when the engine runs and has no database yet; the next one
// goes on.
func TestTheDoctorTakesADirectoryWithoutADatabaseForUnfinished(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.EmptyProgram(t)
	house.Need(t, os.MkdirAll(filepath.Join(p.DataDir, "engine", "store"), 0o700))
	doctor(t, p, []sick{{"schema", "warning", "there are no tables yet"}})
	identity := filepath.Join(p.DataDir, "identity.json")
	house.Need(t, os.WriteFile(identity, []byte(`{"embedded engine":"d_1"}`), 0o600))
	doctor(t, p, []sick{{"engine", "failed", "is empty"}}) // there was one
	house.Need(t, os.Remove(identity))
	healthy(t, p, "acct")
	doctor(t, p, nil)
}

func TestTheDoctorExaminesTheDataDirectory(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.OwnProgram(t)
	healthy(t, p, "acct")
	if r := house.SpeakAs(t, p, house.PlatformOf(t), house.CanarySecret, house.CanaryRefresh, "connect", "--account", "acct", "--region", "NA", "--client-id", standin.DefaultClientID); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	doctor(t, p, nil)
	engine, secret := filepath.Join(p.DataDir, "engine"), filepath.Join(p.DataDir, "secret.key")

	t.Run("modes", func(t *testing.T) {
		house.Need(t, os.Chmod(engine, 0o755))
		doctor(t, p, []sick{{"file_modes", "failed", "engine can be read by others (mode 0755)"}})
		house.Need(t, os.Chmod(engine, 0o700))
		house.Need(t, os.Chmod(p.DataDir, 0o777))
		doctor(t, p, []sick{{"file_modes", "failed", "can be changed by others (mode 0777)"}})
		house.Need(t, os.Chmod(p.DataDir, 0o700))
	})
	t.Run("owners", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root gives files away")
		}
		house.Need(t, os.Chown(secret, 54321, 54321))
		doctor(t, p, []sick{{"file_owners", "failed", "secret.key among them, belong to user 54321"}})
		house.Need(t, os.Chown(secret, 0, 0))
	})
	t.Run("secret key", func(t *testing.T) {
		house.Need(t, os.Rename(secret, secret+".away"))
		doctor(t, p, []sick{{"connection", "failed", "secret.key is missing"}})
		house.Need(t, os.WriteFile(secret, bytes.Repeat([]byte("A"), 43), 0o600))
		doctor(t, p, []sick{{"connection", "failed", "its credentials cannot be read"}})
		house.Need(t, os.Rename(secret+".away", secret))
	})
	t.Run("library", func(t *testing.T) {
		wrong := filepath.Join(t.TempDir(), "libchdb.so")
		house.Put(t, filepath.Dir(wrong), "libchdb.so", []byte("not a library"))
		command := p.Command(t.Context(), "doctor", "--json")
		command.Env = append(command.Env, "ADLENS_ENGINE_LIBRARY="+wrong)
		examined(t, output(t, command), []sick{{"engine_library", "failed", "damaged or of another version"}})
	})
	doctor(t, p, nil)
}

// output runs a prepared command.
func output(t *testing.T, command *exec.Cmd) harness.Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	return harness.Result{Code: command.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// Directories of parts that vanish while nothing runs leave no trace in the
// engine: it starts without them.
func TestTheDoctorMissesPartsThatAreGone(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	whole := house.OwnProgram(t)
	healthy(t, whole, "acct")
	for table, want := range map[string][]sick{
		"facts":           {{"manifest", "failed", "were loaded"}},
		"day_totals":      {{"manifest", "failed", "day_totals: "}, {"rollups", "failed", "day_totals"}},
		"month_products":  {{"manifest", "failed", "month_products: "}, {"rollups", "failed", "month_products"}},
		"year_products":   {{"manifest", "failed", "year_products: "}, {"rollups", "failed", "year_products"}},
		"month_ad_groups": {{"manifest", "failed", "month_ad_groups: "}, {"rollups", "failed", "month_ad_groups"}},
		"year_ad_groups":  {{"manifest", "failed", "year_ad_groups: "}, {"rollups", "failed", "year_ad_groups"}},
		"product_titles":  {{"manifest", "failed", "product_titles: "}},
		"products":        {{"manifest", "failed", "products: "}},
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			p := house.CopyOf(t, whole)
			server, err := p.Serve()
			house.Need(t, err)
			parts := strings.Fields(house.AsWriter(t, p, "SELECT path FROM system.parts WHERE database = 'adlens' AND active AND table = '"+table+"'"))
			house.Need(t, server.Stop())
			house.Need(t, p.StopEngine())
			if len(parts) == 0 {
				t.Fatal("no parts")
			}
			for _, part := range parts {
				house.Need(t, os.RemoveAll(part))
			}
			doctor(t, p, want)
		})
	}
}

func TestTheDoctorWarnsOfMemoryAsADisk(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	const memory = "/dev/shm"
	if out, err := exec.Command("stat", "-f", "-c", "%T", memory).Output(); err != nil || strings.TrimSpace(string(out)) != "tmpfs" {
		t.Skip("there is no tmpfs at " + memory)
	}
	dir, err := os.MkdirTemp(memory, "adlens-doctor-")
	house.Need(t, err)
	t.Cleanup(func() { house.Need(t, os.RemoveAll(dir)) })
	p, err := harness.New(dir)
	house.Need(t, err)
	healthy(t, p, "acct")
	doctor(t, p, []sick{{"file_system", "warning", "tmpfs: all of it is gone when the machine restarts"}})
}

// A process of an earlier version, left open, keeps its engine after an upgrade.
func TestAnEngineOfAnotherVersionIsReported(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.OwnProgram(t)
	healthy(t, p, "acct")
	path := filepath.Join(p.DataDir, "engine", "engine.json")
	content, err := os.ReadFile(path)
	house.Need(t, err)
	var at map[string]any
	house.Need(t, json.Unmarshal(content, &at))
	at["version"] = "v0.0.1"
	content, err = json.Marshal(at)
	house.Need(t, errors.Join(err, os.WriteFile(path, content, 0o600)))
	const text = "the running engine was started by adlens v0.0.1; this is "
	doctor(t, p, []sick{{"engine", "warning", text}})
	if r := p.Run("load", "--account", "acct", t.TempDir()); !strings.Contains(r.Stderr, text) {
		t.Errorf("a load says %s", r)
	}
	later := house.Serve(t, p)
	if !strings.Contains(later.Log(), text) {
		t.Errorf("the server logs %s", later.Log())
	}
}
