// The API server of Kubernetes and the etcd that keeps its objects, in one process: what a cluster's control plane answers, without any node.
// The flags are those of kube-apiserver; ETCD_DIR, ETCD_CLIENT_URL and ETCD_PEER_URL say where etcd is.
package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const patience = 2 * time.Minute

func main() {
	if err := startEtcd(os.Getenv("ETCD_DIR"), os.Getenv("ETCD_CLIENT_URL"), os.Getenv("ETCD_PEER_URL")); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}

func startEtcd(dir, clientURL, peerURL string) error {
	client, err := url.Parse(clientURL)
	if err != nil {
		return err
	}
	peer, err := url.Parse(peerURL)
	if err != nil {
		return err
	}
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "error"
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.UnsafeNoFsync = true // a test's objects need not outlive its machine
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return nil
	case <-time.After(patience):
		return errors.New("it did not become ready")
	}
}
