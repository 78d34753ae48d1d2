package main

import (
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// libraryWords are phrases that errors of libraries are known by.
var libraryWords = regexp.MustCompile(`strconv|invalid syntax|value out of range|invalid argument|unknown (flag|shorthand|command|unit|help topic)|required flag|arg\(s\)|` +
	`needs an argument|bad flag|time: |missing unit|invalid duration|unrecognized level|parse "|listen tcp|lookup |missing port|too many colons|invalid URL|dial |json: |invalid character|unmarshal|pflag|cobra`)

// runBad runs a command line that is to be refused before anything is opened, and
// returns what it says.
func runBad(t *testing.T, words ...string) string {
	t.Helper()
	root := newRoot()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.SetArgs(words)
	err := root.ExecuteContext(t.Context())
	if err == nil {
		t.Errorf("adlens %q is not refused", words)
		return ""
	}
	if found := libraryWords.FindString(err.Error()); found != "" {
		t.Errorf("adlens %q speaks in a library's words, %q: %v", words, found, err)
	}
	return err.Error()
}

func wantWords(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, word := range want {
		if !strings.Contains(got, word) {
			t.Errorf("want %q in %q", word, got)
		}
	}
}

// argumentsFor are arguments that a command takes.
func argumentsFor(cmd *cobra.Command) (words []string) {
	use := strings.Fields(cmd.Use)
	for i, word := range use[1:] {
		if !strings.ContainsAny(word, "-[]") && !strings.HasPrefix(use[i], "-") && !strings.HasPrefix(use[i], "[-") {
			words = append(words, strings.Trim(word, "."))
		}
	}
	return words
}

// Every command is given every kind of mistake, by flag and by variable.
func TestNoMistakeIsAnsweredInALibrarysWords(t *testing.T) {
	t.Setenv("ADLENS_DATA_DIR", filepath.Join(t.TempDir(), "none"))
	bad := map[string][]string{
		"int":      {"abc", "", "1.5", "99999999999999999999", "-", "1e3", "0x", "\x1b[31m"},
		"duration": {"5", "abc", "", "5 minutes", "99999999999h", "1d", "-"},
		"bool":     {"maybe", "", "yes", "2"},
	}
	tried := 0
	for path, cmd := range commands() {
		words := append(strings.Fields(path), argumentsFor(cmd)...)
		wantWords(t, runBad(t, append(words, "--no-such-flag")...), "--no-such-flag is no flag of "+cmd.CommandPath(), "--help")
		wantWords(t, runBad(t, append(words, "-xyz")...), "-xyz is no flag of")
		wantWords(t, runBad(t, append(words, "--=x")...), `"--=x" is no flag`)
		if cmd.HasSubCommands() {
			wantWords(t, runBad(t, append(words, "nonsense")...), `"nonsense" is no command of `+cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			if f.Value.Type() != "bool" {
				wantWords(t, runBad(t, append(words, "--"+f.Name)...), "--"+f.Name+" has no value; expected ")
			}
			for _, value := range bad[f.Value.Type()] {
				tried++
				said := runBad(t, append(words, "--"+f.Name+"="+value)...)
				wantWords(t, said, "--"+f.Name+" is ", "; expected ")
				if hasVariable(f) && cmd.Runnable() {
					t.Run("variable", func(t *testing.T) {
						t.Setenv(envVariable(f.Name), value)
						wantWords(t, runBad(t, words...), envVariable(f.Name)+" is ", "; expected ")
					})
				}
			}
		})
	}
	if tried < 300 {
		t.Errorf("%d bad values were tried", tried)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for words, want := range map[string]string{
		"key create":                "--account and --name are missing; see adlens key create --help",
		"key create --name x":       "--account is missing",
		"feed create":               "--account, --name and --request are missing",
		"key revoke":                "KEY_ID is missing; see adlens key revoke --help",
		"key revoke a b":            `"b" is one argument too many`,
		"load --account acme":       "PATH is missing",
		"serve 8080":                `"8080" is one argument too many; adlens serve takes none`,
		"completion bash now":       `"now" is one argument too many`,
		"serv":                      `"serv" is no command of adlens, did you mean serve?`,
		"key creat":                 "did you mean create?",
		"serve --lisen :8080":       "--lisen is no flag of adlens serve, did you mean --listen?",
		"help nonsense":             `"nonsense" is no command of adlens; see adlens --help`,
		"help key nonsense":         `"nonsense" is no command of adlens key`,
		"serve --limit-minute=10.5": `--limit-minute is "10.5"; expected a whole number, like 60`,
	} {
		wantWords(t, runBad(t, strings.Fields(words)...), want)
	}
}

// An empty account is none, and never all of them: it comes from a variable that is not set.
func TestAnEmptyAccountIsRefused(t *testing.T) {
	t.Setenv("ADLENS_DATA_DIR", filepath.Join(t.TempDir(), "none"))
	tried := 0
	for path, cmd := range commands() {
		words := append(strings.Fields(path), argumentsFor(cmd)...)
		if strings.HasPrefix(path, "account ") && len(words) > 2 {
			wantWords(t, runBad(t, append(strings.Fields(path), "")...), `"" is no account id; expected 1 to 64 letters`)
		}
		if cmd.Flags().Lookup("account") == nil {
			continue
		}
		tried++
		wantWords(t, runBad(t, append(words, "--account", "")...), "--account is empty; expected the id of an account")
		t.Run(path, func(t *testing.T) {
			t.Setenv("ADLENS_ACCOUNT", "")
			wantWords(t, runBad(t, words...), "ADLENS_ACCOUNT is empty; expected the id of an account")
		})
	}
	if tried < 17 {
		t.Errorf("%d commands were tried", tried)
	}
}

func TestEveryCommandHasItsHelp(t *testing.T) {
	for path, cmd := range commands() {
		root := newRoot()
		var out strings.Builder
		root.SetOut(&out)
		root.SetArgs(append([]string{"help"}, strings.Fields(path)...))
		if err := root.Execute(); err != nil || !strings.HasPrefix(out.String(), cmd.Long) {
			t.Errorf("adlens help %s: %v: %.60q", path, err, out.String())
		}
	}
}

func TestAnAddressThatCannotBeHadIsExplained(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, want := range map[string]string{
		"8080":                  "expected HOST:PORT",
		"":                      "expected HOST:PORT",
		"localhost:http":        "expected HOST:PORT",
		"127.0.0.1:70000":       "a port up to 65535",
		"::1:8080":              "expected HOST:PORT",
		"192.0.2.1:8080":        "192.0.2.1 is no address of this machine",
		"no.such.invalid:8080":  "no.such.invalid is no address of this machine",
		taken.Addr().String():   "--listen " + taken.Addr().String() + " is in use, maybe by another adlens serve or adlens demo; stop that one, or choose another address, like --listen 127.0.0.1:",
		"http://127.0.0.1:8080": "expected HOST:PORT",
	} {
		listener, err := listenOn("--listen", address)
		if err == nil {
			listener.Close()
			t.Errorf("%q is listened on", address)
			continue
		}
		wantWords(t, err.Error(), want)
		if found := libraryWords.FindString(err.Error()); found != "" {
			t.Errorf("%q speaks in a library's words, %q: %v", address, found, err)
		}
	}
}
