package deploy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// shared is what the first test that needs it makes for all of them, in a directory
// that is removed with the last.
type shared struct {
	mu     sync.Mutex
	dir    string
	made   string
	failed bool
}

var release, debian shared

func (s *shared) get(t *testing.T, produce func(dir string) string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed {
		t.Fatal("another test could not make what this one needs")
	}
	if s.made == "" {
		s.failed = true
		var err error
		if s.dir, err = os.MkdirTemp("", "adlens-deploy-"); err != nil {
			t.Fatal(err)
		}
		s.made = produce(s.dir)
		s.failed = false
	}
	return s.made
}

func TestMain(m *testing.M) {
	code := m.Run()
	if debian.made != "" {
		if out, err := exec.Command("docker", "image", "rm", "--force", debian.made).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v: %s\n", err, out)
		}
	}
	for _, s := range []*shared{&release, &debian} {
		if s.dir != "" {
			os.RemoveAll(s.dir)
		}
	}
	os.Exit(code)
}

// bareDebian makes an image of the smallest Debian there is, from where this machine has
// its own packages, and returns its name.
func bareDebian(t *testing.T) string {
	t.Helper()
	needDocker(t)
	debootstrap := tool(t, "debootstrap")
	if os.Geteuid() != 0 {
		t.Skip("only root makes a Debian")
	}
	return debian.get(t, func(dir string) string {
		codename, mirror := mirrorOfThisMachine(t)
		tree, name := filepath.Join(dir, "tree"), fmt.Sprintf("adlens-bare-debian-%d", os.Getpid())
		run(t, debootstrap, "--variant=minbase", codename, tree, mirror)
		run(t, "sh", "-c", "tar -C "+tree+" --exclude=./var/cache/apt/archives/*.deb -c . | docker import - "+name)
		run(t, "rm", "-rf", tree)
		return name
	})
}

// getJSON reads the answer of an address of the API with a key.
func getJSON(t *testing.T, address, key string, into any) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s: %v", address, answer.Status, err)
	}
}

// mirrorOfThisMachine returns its release of Debian, and where it has it from.
func mirrorOfThisMachine(t *testing.T) (codename, mirror string) {
	t.Helper()
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		t.Skip(err)
	}
	for scanner := bufio.NewScanner(strings.NewReader(string(text))); scanner.Scan(); {
		if value, ok := strings.CutPrefix(scanner.Text(), "VERSION_CODENAME="); ok {
			codename = value
		}
	}
	for line := range strings.Lines(run(t, tool(t, "apt-get"), "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Identifier: Packages")) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[1] == codename && fields[2] == "main" {
			return codename, fields[0]
		}
	}
	t.Fatalf("apt has no packages of %q", codename)
	return "", ""
}
