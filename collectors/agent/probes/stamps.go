package probes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel notes when each packet arrived. Without that, a round trip would also have the time until this agent, and the one that answers, got a
// CPU: on a busy host that is more than the delay that is measured. Times of the card itself would need its clock to be set up for the whole host,
// and would leave out what waits on the way from the card to the kernel.
//
// Of a request no such time is needed: sending runs in the agent's own thread as far as the queue of the device.

// timespecLength is that of a 64-bit kernel; a control message has three of them: of the kernel, of none, of the card.
const (
	timespecLength = 16
	stampSpace     = 128
)

// arrival is when a packet came.
type arrival struct {
	// read is when the agent had it, with a monotonic reading.
	read time.Time
	// stamp is when the kernel had it, on the wall clock; zero where the kernel has not noted it.
	stamp time.Time
}

// stampArrivals asks the kernel to note the arrival of each packet.
func stampArrivals(connection *net.UDPConn) error {
	socket, err := connection.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = socket.Control(func(descriptor uintptr) {
		flags := unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE
		set = unix.SetsockoptInt(int(descriptor), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags) //nolint:gosec // G115: a descriptor is small
	})
	if err = errors.Join(err, set); err != nil {
		return fmt.Errorf("asking the kernel for the times of packets: %w", err)
	}
	return nil
}

// stampOf is the kernel's time in the control messages of a packet, zero without one.
func stampOf(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return time.Time{}
	}
	for _, m := range messages {
		if m.Header.Level != unix.SOL_SOCKET || m.Header.Type != unix.SO_TIMESTAMPING || len(m.Data) < timespecLength {
			continue
		}
		seconds, nanoseconds := binary.NativeEndian.Uint64(m.Data), binary.NativeEndian.Uint64(m.Data[8:])
		if seconds == 0 {
			continue
		}
		return time.Unix(int64(seconds), int64(nanoseconds)) //nolint:gosec // G115: the kernel's time
	}
	return time.Time{}
}

// roundTripOf is the time from sending until the kernel had the answer, without the time that the other agent kept the request.
//
// The kernel's time is of the wall clock, which may have been set in between. It is taken only where it fits into what the monotonic clock says.
func roundTripOf(sent time.Time, back arrival, kept time.Duration) time.Duration {
	took := back.read.Sub(sent)
	if byKernel := back.stamp.Sub(sent.Round(0)); !back.stamp.IsZero() && byKernel > 0 && byKernel < took {
		took = byKernel
	}
	if kept < took {
		return took - kept
	}
	return took // nobody can have kept it for longer than it was away
}

// keptFor is how long a request has waited: since the kernel had it, or since the agent had it where the kernel has noted nothing. Zero where the
// clock was set in between.
func keptFor(request arrival, now time.Time) time.Duration {
	if request.stamp.IsZero() {
		return max(0, now.Sub(request.read))
	}
	kept := now.Round(0).Sub(request.stamp)
	if kept < 0 || kept > patience {
		return 0
	}
	return kept
}
