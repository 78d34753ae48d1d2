package script

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// Target is what a script runs on: the program, or the oracle.
type Target interface {
	// Account makes an account without any data.
	Account(id string) error
	// Load takes a directory and reports whether any file was refused.
	Load(account, dir string) (refused bool, err error)
	// Get asks below /api/v1; the body is decoded with exact numbers.
	Get(account, path string) (status int, body any, err error)
	// JudgesFaults reports whether faulty requests are worth asking.
	JudgesFaults() bool
}

// ErrBeyond is what a target answers to a request that it cannot judge.
var ErrBeyond = errors.New("beyond this target")

type runner struct {
	target  Target
	dir     string
	account string
	next    files
	loads   int
}

// Run runs the steps and returns what was not as the script says, each with
// its line. Files are written below dir.
func Run(steps []Step, target Target, dir string) []string {
	r := &runner{target: target, dir: dir}
	r.beginLoad()
	var faults []string
	for _, step := range steps {
		lines, err := r.runStep(step)
		if err != nil {
			lines = append(lines, err.Error())
		}
		for _, line := range lines {
			faults = append(faults, fmt.Sprintf("line %d: %s %v: %s", step.Line, step.Verb, step.Args, line))
		}
	}
	return faults
}

func (r *runner) beginLoad() {
	r.loads++
	r.next = files{dir: filepath.Join(r.dir, fmt.Sprintf("load%02d", r.loads))}
}

func (r *runner) runStep(s Step) ([]string, error) {
	switch s.Verb {
	case "account":
		if len(s.Args) != 1 {
			return nil, errors.New("an account has one id")
		}
		r.account = s.Args[0]
		return nil, r.target.Account(r.account)
	case "profiles":
		return nil, r.next.writeProfiles(s.Block)
	case "rates":
		return nil, r.next.writeRates(s.Block)
	case "bank":
		return nil, r.next.writeBankRates(s.Block)
	case "products":
		return nil, r.next.writeTitles(s.Block)
	case "report":
		return nil, r.next.writeReport(s.Args, s.Block)
	case "load":
		return nil, r.runLoad(len(s.Args) == 1 && s.Args[0] == "refused")
	default:
		return r.runGet(s)
	}
}

// runLoad takes everything that was written since the load before. A refused
// load's files stay, so that a later load may repeat them.
func (r *runner) runLoad(wantRefused bool) error {
	refused, err := r.target.Load(r.account, r.next.dir)
	if err != nil {
		return err
	}
	if refused != wantRefused {
		return fmt.Errorf("want refused files: %v, got %v", wantRefused, refused)
	}
	if !refused {
		r.beginLoad()
	}
	return nil
}

func (r *runner) runGet(s Step) ([]string, error) {
	want, rows, err := answerWords(s.Args)
	if err != nil {
		return nil, err
	}
	if want != 200 && !r.target.JudgesFaults() {
		return nil, nil
	}
	status, body, err := r.target.Get(r.account, s.Args[0])
	if errors.Is(err, ErrBeyond) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if status != want {
		return []string{fmt.Sprintf("want status %d, got %d: %v", want, status, body)}, nil
	}
	return compareBlock(s.Block, rows, body)
}

// answerWords reads what follows the path: status N, rows LIST.
func answerWords(args []string) (status int, rows string, err error) {
	status, rows = 200, "data"
	if len(args)%2 != 1 {
		return 0, "", fmt.Errorf("want a path and then pairs of words, got %q", args)
	}
	for i := 1; i < len(args); i += 2 {
		switch args[i] {
		case "status":
			if status, err = strconv.Atoi(args[i+1]); err != nil {
				return 0, "", err
			}
		case "rows":
			rows = args[i+1]
		default:
			return 0, "", fmt.Errorf("unknown word %q", args[i])
		}
	}
	return status, rows, nil
}
