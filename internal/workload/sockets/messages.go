// Package sockets exchanges messages between sockets, of one process or of a
// worker and the tool, on two isolated hosts: each message drives the programs
// on its way.
package sockets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// progressTime is how long an exchange that must progress may stall.
const progressTime = 2 * time.Second

// Messages are exchanged between open sockets: the first one sends, and
// whichever receives the message answers it.
//
// One thread holds all ends, so that a message's effects have happened before
// the next one is sent: a veth pair delivers within the call that sends.
//
// A message that a program drops, or refuses to send, counts as unanswered.
type Messages struct {
	sockets []int
	// connected says which sockets need no address to send to.
	connected       []bool
	message, buffer []byte
	// Reliable says that each message must be answered: TCP resends what a
	// program drops on the way, in its own time.
	Reliable bool
	// OneWay says that nothing arrives.
	OneWay bool
	// Renew, unless nil, makes other sockets for the next message once a
	// program refuses to send one.
	Renew func() (*Messages, error)
	// forth and back are how long to wait for an arrival. A program that drops
	// the answers still needs messages that arrive.
	forth, back patience
}

func messagesAmong(size int, sockets ...int) *Messages {
	m := &Messages{sockets: sockets, message: make([]byte, size), buffer: make([]byte, 1<<16)}
	for _, fd := range sockets {
		_, err := unix.Getpeername(fd)
		m.connected = append(m.connected, err == nil)
	}
	return m
}

// Do exchanges this many messages and returns how many of them were answered.
// It ends early when ctx is cancelled.
func (m *Messages) Do(ctx context.Context, times int) (answered int, err error) {
	for range times {
		ok, err := m.one(ctx)
		if err != nil {
			return answered, fmt.Errorf("%d of %d messages were answered: %w", answered, times, err)
		}
		if ok {
			answered++
		}
	}
	return answered, nil
}

// one exchanges a message. ok is false if nothing arrives.
func (m *Messages) one(ctx context.Context) (ok bool, err error) {
	if ok, err := m.send(ctx, 0, nil); !ok || err != nil {
		return false, err
	}
	if m.OneWay {
		return true, nil
	}
	at, from, err := m.receive(ctx, &m.forth)
	if at <= 0 { // there is none, or the sender itself got it
		return at == 0, err
	}
	if ok, err := m.send(ctx, at, from); !ok || err != nil {
		return false, err
	}
	at, _, err = m.receive(ctx, &m.back)
	return at >= 0, err
}

// send sends the message to an address, or to where the socket is connected to.
// It is false if a program refuses that.
func (m *Messages) send(ctx context.Context, at int, to unix.Sockaddr) (ok bool, err error) {
	for {
		err := unix.Sendto(m.sockets[at], m.message, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, to)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if at, err := ready(ctx, m.sockets[at:at+1], unix.POLLOUT, progressTime); err != nil || at < 0 {
				return false, errors.Join(noProgress("the socket takes no more to send"), err)
			}
		case isEnd(err):
			return false, fmt.Errorf("send: %w", err)
		default:
			return false, m.renew()
		}
	}
}

func (m *Messages) renew() error {
	if m.Renew == nil {
		return nil
	}
	closeSockets(m.sockets)
	m.sockets = nil
	fresh, err := m.Renew()
	if err != nil {
		return fmt.Errorf("connect again: %w", err)
	}
	m.sockets, m.connected = fresh.sockets, fresh.connected
	return nil
}

// receive is where something arrived, and from where; -1 for nothing.
func (m *Messages) receive(ctx context.Context, p *patience) (at int, from unix.Sockaddr, err error) {
	began := time.Now()
	defer func() { p.answered(at >= 0, time.Since(began)) }()
	wait := p.time()
	if m.Reliable {
		wait = progressTime
	}
	for {
		at, err := ready(ctx, m.sockets, unix.POLLIN, max(wait-time.Since(began), 0))
		if err == nil && at < 0 && m.Reliable {
			err = noProgress("no answer")
		}
		if err != nil || at < 0 {
			return -1, nil, err
		}
		n, from, err := unix.Recvfrom(m.sockets[at], m.buffer, unix.MSG_DONTWAIT)
		switch {
		case err == nil && n > 0:
			if m.connected[at] {
				from = nil
			}
			return at, from, nil
		case err == nil:
			return -1, nil, errors.New("the connection was closed")
		case isEnd(err):
			return -1, nil, fmt.Errorf("receive: %w", err)
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			if time.Since(began) >= wait {
				return -1, nil, nil
			}
		default: // the network says that nobody got it
			return -1, nil, nil
		}
	}
}

// isEnd reports whether err says that a connection has ended.
func isEnd(err error) bool {
	return errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ETIMEDOUT) ||
		errors.Is(err, unix.EBADF) || errors.Is(err, unix.ENOTCONN)
}

// errNoProgress says that an exchange has come to a halt.
var errNoProgress = errors.New("no progress")

func noProgress(what string) error {
	return fmt.Errorf("%w for %s: %s", errNoProgress, progressTime, what)
}

// Peer is the socket that is to answer.
func (m *Messages) Peer() int { return m.sockets[1] }

// Close closes the sockets.
func (m *Messages) Close() error {
	closeSockets(m.sockets)
	return nil
}

// closeSockets closes sockets that may be among them twice.
func closeSockets(fds []int) {
	for _, fd := range slices.Compact(slices.Sorted(slices.Values(fds))) {
		unix.Close(fd)
	}
}
