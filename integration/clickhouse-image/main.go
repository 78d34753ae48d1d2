// Command clickhouse-image is the entry point of a container image made of the
// embedded engine: a ClickHouse server where no image can be pulled. It takes
// the variables and the configuration files of the official image that the
// tests use: CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, and what lies in config.d
// and users.d of /etc/clickhouse-server.
//
// It is for tests alone: its native port stands open, which a build of the
// engine did not survive when it met bytes of others than ClickHouse's clients.
// It cannot speak TLS, and its users come from files only.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"adlens/internal/engine"

	"github.com/creack/pty"
)

const (
	configuration = "/etc/clickhouse-server"
	store         = "/var/lib/clickhouse"
	library       = "/libchdb.so"
	childVariable = "CLICKHOUSE_IMAGE_CHILD"
)

// The library wants the main thread, which only init functions are sure to run
// on.
func init() { runtime.LockOSThread() }

func main() {
	run := watch
	if os.Getenv(childVariable) != "" {
		run = serve
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "clickhouse-image:", err)
		os.Exit(1)
	}
}

// watch starts the server at a terminal of its own, without which this build
// does not survive a wrong password, and ends it as a person there would.
func watch() error {
	if err := configure(); err != nil {
		return err
	}
	if isReplica {
		if err := forwardReplicas(); err != nil {
			return err
		}
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childVariable+"=1")
	terminal, err := pty.Start(cmd)
	if err != nil {
		return err
	}
	go io.Copy(os.Stdout, terminal)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-asked
		io.WriteString(terminal, "exit\n")
		time.Sleep(8 * time.Second)
		cmd.Process.Kill() // what was acknowledged is on the disk
	}()
	return cmd.Wait()
}

// serve becomes the server.
func serve() error {
	arguments := []string{"--path=" + store, "--config-file=" + configuration + "/config.xml",
		"--interactive", "--disable_suggestion", "--query", "SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP",
		"--history_file=" + store + "/history"}
	if !isReplica {
		return engine.Become(library, append(arguments, "--listen_host=0.0.0.0")...)
	}
	host, err := ownAddress()
	if err != nil {
		return err
	}
	if err := enableReplicas(library, host); err != nil {
		return err
	}
	return engine.Become(library, arguments...)
}
