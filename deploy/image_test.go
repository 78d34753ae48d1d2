// Package deploy_test holds the files of shipping to what they promise.
package deploy_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const root = ".."

// tool is the path of a program that a test needs; without it the test is
// skipped, but not where CI promised it.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("ADLENS_TEST_DOCKER") == "required" && slices.Contains([]string{"docker", "docker-compose", "haproxy", "debootstrap"}, name) {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return path
}

// run runs a command to its end and returns what it said.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // three platforms are built from nothing, beside all other tests
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func needDocker(t *testing.T) {
	t.Helper()
	if err := exec.Command(tool(t, "docker"), "info").Run(); err != nil {
		if os.Getenv("ADLENS_TEST_DOCKER") == "required" {
			t.Fatalf("no Docker answers: %v", err)
		}
		t.Skipf("no Docker answers: %v", err)
	}
}

// image builds the Dockerfile as it is, in an unpacked release, on a Debian that is
// made here, and returns the image's name.
func image(t *testing.T) string {
	t.Helper()
	base, name := bareDebian(t), fmt.Sprintf("adlens-shipping-test-%d", os.Getpid())
	dir := t.TempDir()
	run(t, "tar", "xzf", filepath.Join(released(t), releaseName+".tar.gz"), "-C", dir)
	run(t, "docker", "build", "--quiet", "--build-arg", "BASE="+base, "--tag", name, filepath.Join(dir, releaseName))
	t.Cleanup(func() { run(t, "docker", "image", "rm", "--force", name) })
	return name
}

func TestTheImageServesWithoutRootOnAReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	name := image(t)
	container := run(t, "docker", "run", "--detach", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges:true",
		"--volume=/data", "--publish=127.0.0.1::8080", name)
	t.Cleanup(func() { run(t, "docker", "rm", "--force", "--volumes", container) })
	address := "http://" + run(t, "docker", "port", container, "8080")
	awaitReady(t, container, address)
	adlens := func(args ...string) string {
		return run(t, "docker", append([]string{"exec", container, "/usr/local/bin/adlens"}, args...)...)
	}
	adlens("account", "add", "acme", "--name", "Acme Ltd")
	key := adlens("key", "create", "--account", "acme", "--name", "sheet")
	run(t, "docker", "exec", container, "mktemp") // profiles of the platform and drafts of backups are written so
	var body struct {
		AccountID string `json:"account_id"`
	}
	getJSON(t, address+"/api/v1/account", key, &body)
	if body.AccountID != "acme" {
		t.Errorf("the account is %+v", body)
	}
	if user := run(t, "docker", "inspect", "--format", "{{.Config.User}}", container); user != "65532:65532" {
		t.Errorf("it runs as %q", user)
	}
	run(t, "docker", "stop", "--time", "60", container)
	if code := run(t, "docker", "inspect", "--format", "{{.State.ExitCode}}", container); code != "0" {
		t.Errorf("it ended with exit code %s", code)
	}
}

// Docker kills a container ten seconds after it was stopped, and publishes a port on all
// interfaces, unless the command says otherwise.
func TestDocumentedContainersDrainAndListenLocally(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]int{"Dockerfile": 2, "README.md": 1, "docs/operating.md": 1} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		commands := regexp.MustCompile(`docker run .* adlens.*`).FindAllString(string(text), -1)
		if len(commands) != want {
			t.Errorf("%s has %d commands that run a container, expected %d", file, len(commands), want)
		}
		for _, command := range commands {
			for _, option := range []string{" --stop-timeout 60 ", " -p 127.0.0.1:8080:8080 "} {
				if !strings.Contains(command, option) {
					t.Errorf("%s: %s lacks %s", file, command, option)
				}
			}
		}
	}
}

// awaitReady waits until a container says that it is ready.
func awaitReady(t *testing.T, container, address string) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); ; <-time.After(200 * time.Millisecond) {
		answer, err := http.Get(address + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(until) {
			logs, _ := exec.Command("docker", "logs", container).CombinedOutput()
			t.Fatalf("it is not ready: %v\n%s", err, logs)
		}
	}
}

func TestTheComposeFilesAreValid(t *testing.T) {
	t.Parallel()
	compose := []string{tool(t, "docker"), "compose"}
	if exec.Command(compose[0], compose[1], "version").Run() != nil {
		compose = []string{tool(t, "docker-compose")}
	}
	for _, files := range [][]string{{"one.yaml"}, {"replicas.yaml"}, {"replicas.yaml", "cluster.yaml"}} {
		arguments := slices.Clone(compose[1:])
		for _, file := range files {
			arguments = append(arguments, "-f", "compose/"+file)
		}
		command := exec.Command(compose[0], append(arguments, "config")...)
		command.Env = append(os.Environ(), "CLICKHOUSE_PASSWORD=a", "REDIS_PASSWORD=b")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", files, err, out)
		}
		if images, bounded := bytes.Count(out, []byte("image: ")), bytes.Count(out, []byte("max-size: ")); images != bounded || images == 0 {
			t.Errorf("%v: of %d containers the output of %d is bounded\n%s", files, images, bounded, out)
		}
		if servers, bounded := bytes.Count(out, []byte("image: clickhouse/")), bytes.Count(out, []byte("/etc/clickhouse-server/config.d/logs.xml")); servers != bounded {
			t.Errorf("%v: of %d ClickHouse servers %d have bounded logs\n%s", files, servers, bounded, out)
		}
	}
}

// HAProxy looks the servers' names up when it checks; here no name server knows them.
func TestTheBalancersFileIsValid(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command(tool(t, "haproxy"), "-c", "-f", "compose/haproxy.cfg").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Before the unit's first start its directory does not exist, and its user may not make it.
// With a terminal alone, output that is captured has carriage returns and the errors in it.
func TestCommandsRunAsTheUnitDoes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("systemd/adlens.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := string(text)
	_, command, _ := strings.Cut(unit, "#   systemd-run ")
	command, _, _ = strings.Cut(command, "\n[Unit]")
	for _, want := range append([]string{"--pty --pipe "}, regexp.MustCompile(`(?m)^(StateDirectory\w*|UMask|KillMode|EnvironmentFile)=.*`).FindAllString(unit, -1)...) {
		if !strings.Contains(command, want) {
			t.Errorf("systemd-run %s\nlacks %s", command, want)
		}
	}
}

func TestTheUnitIsValidAndLeavesLittleOpen(t *testing.T) {
	t.Parallel()
	analyze := tool(t, "systemd-analyze")
	text, err := os.ReadFile("systemd/adlens.service")
	if err != nil {
		t.Fatal(err)
	}
	// The program is not installed where tests run.
	unit := filepath.Join(t.TempDir(), "adlens.service")
	text = bytes.ReplaceAll(text, []byte("/opt/adlens/adlens"), []byte("/bin/true"))
	if err := os.WriteFile(unit, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("\nOOMPolicy=continue\n")) {
		t.Error("an engine that is killed for want of memory takes the service with it")
	}
	if said := run(t, analyze, "verify", "--man=no", unit); said != "" {
		t.Errorf("systemd-analyze verify: %s", said)
	}
	run(t, analyze, "security", "--offline=true", "--threshold=20", "--no-pager", unit)
}
