package sockets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/org/ebpf-bench-action/internal/bench"
	"github.com/org/ebpf-bench-action/internal/workload/network"
	"github.com/org/ebpf-bench-action/internal/workload/worker"
)

// inheritedFD is the first of the files that a worker inherits.
const inheritedFD = 4

// call does something that a program of a cgroup sees. The program may refuse
// it.
type call func() error

// callTasks are the tasks of a worker on the near host, by name. servers are
// the far host's sockets that it has inherited.
var callTasks = map[string]func(e bench.Exchange, servers []int) (call, error){
	TaskConnect:      connectTask,
	TaskSocket:       socketTask,
	TaskBind:         bindTask,
	TaskSend:         sendTask,
	TaskReceive:      receiveTask,
	TaskPeerName:     peerNameTask,
	TaskSocketName:   socketNameTask,
	TaskGetOption:    getOptionTask,
	TaskSetOption:    setOptionTask,
	TaskReadSysctl:   readSysctlTask,
	TaskOpenDevice:   openDeviceTask,
	TaskUnixConnect:  unixConnectTask,
	TaskUnixSend:     unixSendTask,
	TaskUnixReceive:  unixReceiveTask,
	TaskUnixPeerName: unixPeerNameTask,
	TaskUnixName:     unixNameTask,
}

// The tasks of the near host. Each time, a worker
const (
	TaskMessage      = "message"       // sends a message and gets its answer
	TaskConnect      = "connect"       // connects, exchanges a message if it is by TCP, and closes
	TaskConnectOwn   = "connect-own"   // does so with a server that it has itself, on the far host
	TaskSocket       = "socket"        // opens a socket and closes it
	TaskBind         = "bind"          // opens a socket, gives it an address and closes it
	TaskSend         = "send"          // sends a message to an address
	TaskReceive      = "receive"       // gets a message, and where it came from
	TaskPeerName     = "getpeername"   // asks for the address of a peer
	TaskSocketName   = "getsockname"   // asks for the address of a socket
	TaskGetOption    = "getsockopt"    // gets a socket's option
	TaskSetOption    = "setsockopt"    // sets a socket's option
	TaskReadSysctl   = "sysctl"        // reads a sysctl
	TaskOpenDevice   = "device"        // opens a device and closes it
	TaskUnixConnect  = "unix-connect"  // connects to a socket of its own
	TaskUnixSend     = "unix-send"     // sends a message to a socket of its own
	TaskUnixReceive  = "unix-receive"  // gets a message from a socket of its own
	TaskUnixPeerName = "unix-peername" // asks for the address of a peer
	TaskUnixName     = "unix-sockname" // asks for the address of a socket
)

func init() {
	for name, open := range callTasks {
		worker.Register(name, func(args []string) (func(int) (int, error), error) { return callTask(args, open) })
	}
	worker.Register(TaskMessage, messageTask)
	worker.Register(TaskConnectOwn, connectOwnTask)
}

// TaskArgs returns the arguments of a task of the near host that inherits this
// many sockets.
func TaskArgs(e bench.Exchange, servers int) []string {
	text, _ := json.Marshal(e) // contains nothing that JSON lacks
	return []string{string(text), strconv.Itoa(servers)}
}

func readTaskArgs(args []string) (e bench.Exchange, inherited []int, err error) {
	if len(args) != 2 {
		return e, nil, errors.New("expected an exchange and a number of sockets")
	}
	if err := json.Unmarshal([]byte(args[0]), &e); err != nil {
		return e, nil, err
	}
	n, err := strconv.Atoi(args[1])
	for i := range n {
		fd := inheritedFD + i
		unix.CloseOnExec(fd)
		err = errors.Join(err, unix.SetNonblock(fd, true))
		inherited = append(inherited, fd)
	}
	return e, inherited, err
}

// callTask counts the calls that succeed. It requires one to succeed before
// there is a program that could refuse it, so that errors with other causes are
// reported.
func callTask(args []string, open func(bench.Exchange, []int) (call, error)) (func(int) (int, error), error) {
	e, servers, err := readTaskArgs(args)
	if err != nil {
		return nil, err
	}
	do, err := open(e, servers)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; {
		if err = do(); err == nil {
			break
		}
		if time.Since(began) > progressTime || !errors.Is(err, errNoConnection) {
			return nil, err
		}
	}
	return func(times int) (done int, err error) {
		for range times {
			if do() == nil {
				done++
			}
		}
		return done, nil
	}, nil
}

// messageTask exchanges messages. Over TCP, each must be answered.
func messageTask(args []string) (func(int) (int, error), error) {
	e, servers, err := readTaskArgs(args)
	if err != nil {
		return nil, err
	}
	client, peer, err := dial(e, servers[0], nearPort)
	if err != nil {
		return nil, err
	}
	m := messagesAmong(e.Size, client, peer)
	m.Reliable = e.Protocol == bench.ProtocolTCP
	return func(times int) (int, error) { return m.Do(context.Background(), times) }, nil
}

// connectOwnTask is connectTask with the worker's own server. Instead of a
// socket it inherits the far host's namespace.
func connectOwnTask(args []string) (func(int) (int, error), error) {
	return callTask(args, func(e bench.Exchange, inherited []int) (call, error) {
		var server int
		far := network.NetnsOf(os.NewFile(uintptr(inherited[0]), "far"))
		err := far.Do(func() (err error) {
			server, err = serve(e, nil)
			return err
		})
		if err != nil {
			return nil, err
		}
		return connectTask(e, []int{server})
	})
}

// connectTask makes a connection each time. With TCP it carries a message and
// its answer.
func connectTask(e bench.Exchange, servers []int) (call, error) {
	c := &connections{talk: e, servers: servers}
	return c.one, nil
}

// connections makes one connection after the other.
type connections struct {
	talk    bench.Exchange
	servers []int
	// lost is how many failed. Their remains on the far host may still wait for
	// a peer, so the next one uses another port.
	lost     int
	patience patience
}

func (c *connections) one() (err error) {
	began := time.Now()
	client, err := boundSocket(c.talk, nearAddress, nearPort+c.lost%1000, nil)
	if err != nil {
		return err
	}
	defer unix.Close(client)
	err = unix.Connect(client, farAddress.sockaddr(c.talk.IPv6, c.talk.Port))
	if err == nil && c.talk.Protocol == bench.ProtocolUDP {
		return nil
	}
	if err == nil || errors.Is(err, unix.EINPROGRESS) {
		err = c.converse(client)
	}
	c.patience.answered(err == nil, time.Since(began))
	if err != nil {
		c.lost++
	}
	return err
}

var errNoConnection = errors.New("no connection")

func (c *connections) converse(client int) error {
	at, err := readable(c.servers, c.patience.time())
	if err != nil || at < 0 {
		return errors.Join(errNoConnection, err)
	}
	peer, err := accept(c.servers[at], 0)
	if err != nil {
		return err
	}
	defer unix.Close(peer)
	m := messagesAmong(c.talk.Size, client, peer)
	m.forth, m.back = c.patience, c.patience
	if ok, err := m.one(context.Background()); err != nil || !ok {
		return fmt.Errorf("exchange a message: %w", errors.Join(errNoConnection, err))
	}
	return nil
}
