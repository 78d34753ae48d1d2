package deploy_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// withinMinute is what unpacking and starting may take of a processor: less than a
// minute passes then on a machine that does nothing else, however busy this one is.
const withinMinute = 60 * time.Second

// A release needs no Go, no npm and no package: it is unpacked on a Debian that has
// nothing, and serves the demonstration.
func TestAReleaseServesTheDemonstrationOnABareDebian(t *testing.T) {
	t.Parallel()
	base, archive := bareDebian(t), filepath.Join(released(t), releaseName+".tar.gz")
	began := time.Now()
	container := run(t, "docker", "run", "--detach", "--volume="+archive+":/release.tar.gz:ro", "--publish=127.0.0.1::8080", base,
		"sh", "-c", "mkdir /adlens && cd /adlens && tar xzf /release.tar.gz --strip-components=1 && exec ./adlens demo --listen 0.0.0.0:8080")
	t.Cleanup(func() { run(t, "docker", "rm", "--force", "--volumes", container) })
	key := awaitDemoKey(t, container)
	used := processorTime(t, container)
	t.Logf("it serves after %s, and %s of a processor", time.Since(began).Round(time.Second), used)
	if used > withinMinute {
		t.Errorf("unpacking and starting took %s of a processor, more than %s", used, withinMinute)
	}
	var body struct{ Spend json.Number }
	getJSON(t, "http://"+run(t, "docker", "port", container, "8080")+"/api/v1/summary?range=all_time", key, &body)
	if len(body.Spend) < len("1000000.00") {
		t.Errorf("the demonstration's summary has %s spent", body.Spend)
	}
	if table := run(t, "docker", "exec", container, "/adlens/adlens", "figures", "--account", "demo", "--data-dir", "/adlens/adlens-data", "--format", "table"); !strings.Contains(table, "SPEND USD") {
		t.Errorf("its figures are %s", table)
	}
}

var demoKey = regexp.MustCompile(`the key of the demonstration account: (key_live_\w+)`)

// awaitDemoKey waits until a demonstration has said its key.
func awaitDemoKey(t *testing.T, container string) string {
	t.Helper()
	for until := time.Now().Add(10 * time.Minute); ; <-time.After(200 * time.Millisecond) {
		logs, err := exec.Command("docker", "logs", container).CombinedOutput()
		if found := demoKey.FindSubmatch(logs); found != nil {
			return string(found[1])
		}
		if state := run(t, "docker", "inspect", "--format", "{{.State.Running}}", container); err != nil || state != "true" || time.Now().After(until) {
			t.Fatalf("the demonstration does not serve, running: %s, %v\n%s", state, err, logs)
		}
	}
}

// processorTime is how long a container has had a processor, by either kind of control
// groups.
func processorTime(t *testing.T, container string) time.Duration {
	t.Helper()
	said := run(t, "docker", "exec", container, "sh", "-c", "cat /sys/fs/cgroup/cpuacct/cpuacct.usage 2>/dev/null || cat /sys/fs/cgroup/cpu.stat")
	if nanoseconds, err := strconv.ParseInt(said, 10, 64); err == nil {
		return time.Duration(nanoseconds)
	}
	for line := range strings.Lines(said) {
		if value, ok := strings.CutPrefix(line, "usage_usec "); ok {
			if microseconds, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
				return time.Duration(microseconds) * time.Microsecond
			}
		}
	}
	t.Fatalf("its control group says %q", said)
	return 0
}
