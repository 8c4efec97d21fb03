// The part of a kubelet that `kubectl exec` and `kubectl port-forward` reach. No container runs: each command goes to the program
// KUBELET_RUN, which gets "tty" or "plain", the pod, the container and the command, and each forwarded port to 127.0.0.1:KUBELET_PORT.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	idle     = 10 * time.Minute
	patience = time.Minute
)

type node struct{}

func (node) ExecInContainer(
	ctx context.Context, pod, _, container string, command []string, in io.Reader, out, failed io.WriteCloser, tty bool,
	_ <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	kind := "plain"
	if tty {
		kind, failed = "tty", out
	}
	run := exec.CommandContext(ctx, os.Getenv("KUBELET_RUN"), append([]string{kind, pod, container}, command...)...)
	run.Stdout, run.Stderr = out, failed
	if in != nil {
		// The command may end before its input does.
		input, err := run.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			defer input.Close()
			_, _ = io.Copy(input, in)
		}()
	}
	err := run.Run()
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		return utilexec.CodeExitError{Err: err, Code: exited.ExitCode()}
	}
	return err
}

func (node) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	log.Printf("port %d is forwarded", port)
	connection, err := net.Dial("tcp", "127.0.0.1:"+os.Getenv("KUBELET_PORT"))
	if err != nil {
		return err
	}
	defer connection.Close()
	done := make(chan error, 2)
	go func() { _, err := io.Copy(connection, stream); done <- err }()
	go func() { _, err := io.Copy(stream, connection); done <- err }()
	return <-done
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		options, err := remotecommand.NewOptions(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		command := r.URL.Query()["command"]
		log.Printf("exec in %s: %s", r.PathValue("container"), strings.Join(command, " "))
		remotecommand.ServeExec(w, r, node{}, r.PathValue("pod"), "", r.PathValue("container"), command, options, idle, patience,
			remotecommand.SupportedStreamingProtocols)
	})
	mux.HandleFunc("/portForward/{namespace}/{pod}", func(w http.ResponseWriter, r *http.Request) {
		options, err := portforward.NewV4Options(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, node{}, r.PathValue("pod"), "", options, idle, patience, portforward.SupportedProtocols)
	})
	mux.HandleFunc("/containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "the log of %s\n", r.PathValue("container"))
	})
	certificate := os.Getenv("KUBELET_CERTIFICATE")
	server := &http.Server{Addr: os.Getenv("KUBELET_ADDRESS"), Handler: mux, ReadHeaderTimeout: patience}
	log.Fatal(server.ListenAndServeTLS(certificate, certificate))
}
