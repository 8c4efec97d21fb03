// Command wallwatch-cni is a CNI plugin for the end of a chain. It refuses ADD with the code 11 ("try again later") when the container's VF belongs
// to an RNIC that Wallwatch has cordoned, and stays out of the way in every other case. See README.md.
package main

import (
	"github.com/containernetworking/cni/pkg/skel"
	cniversion "github.com/containernetworking/cni/pkg/version"
)

// version is set by the build: -ldflags "-X main.version=...".
var version = "dev"

func main() {
	skel.PluginMainFuncs(
		skel.CNIFuncs{Add: add, Check: check, Del: del, GC: collectGarbage, Status: status},
		cniversion.PluginSupports("0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"),
		"CNI plugin wallwatch-cni v"+version,
	)
}
