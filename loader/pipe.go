package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"sync"
)

// A pipe reads a stream ahead of who reads from it, and hashes behind: what
// unpacks, what decodes and what hashes run side by side. The blocks go round,
// so it takes no more memory than they have.
type pipe struct {
	free, filled, read chan *block
	stop               chan struct{}
	running            sync.WaitGroup
	digest             hash.Hash

	current *block // of the reader
	at      int
}

const (
	pipeBlocks = 4
	blockBytes = 256 << 10
)

// block is a piece of the stream.
type block struct {
	bytes []byte
	err   error // what ended the stream behind it
}

// blocks are those of pipes that have ended: a load reads thousands of small
// downloads.
var blocks = sync.Pool{New: func() any { return &block{bytes: make([]byte, 0, blockBytes)} }}

func newPipe(source io.Reader) *pipe {
	p := &pipe{digest: sha256.New(), stop: make(chan struct{}), current: &block{},
		free: make(chan *block, pipeBlocks), filled: make(chan *block, pipeBlocks), read: make(chan *block, pipeBlocks)}
	for range pipeBlocks {
		p.free <- blocks.Get().(*block)
	}
	p.running.Go(func() { p.fillBlocks(source) })
	p.running.Go(p.hashBlocks)
	return p
}

func (p *pipe) fillBlocks(source io.Reader) {
	for {
		select {
		case <-p.stop:
			return
		case b := <-p.free:
			b.fillFrom(source)
			p.filled <- b
			if b.err != nil {
				return
			}
		}
	}
}

func (b *block) fillFrom(source io.Reader) {
	b.bytes, b.err = b.bytes[:0], nil
	for len(b.bytes) < cap(b.bytes) && b.err == nil {
		var n int
		n, b.err = source.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
	}
}

func (p *pipe) hashBlocks() {
	for b := range p.read {
		p.digest.Write(b.bytes)
		p.free <- b
	}
}

// Read reads on. A block that was read whole goes on to be hashed.
func (p *pipe) Read(into []byte) (n int, err error) {
	for p.at == len(p.current.bytes) {
		if p.current.err != nil {
			return 0, p.current.err
		}
		p.passBlock()
		p.current, p.at = <-p.filled, 0
	}
	n = copy(into, p.current.bytes[p.at:])
	p.at += n
	return n, nil
}

func (p *pipe) passBlock() {
	if p.current.bytes != nil {
		p.read <- p.current
	}
}

// closeAndSum ends the pipe, before the source is closed, and returns the hash of
// what was read.
func (p *pipe) closeAndSum() (sum string) {
	close(p.stop)
	p.passBlock()
	close(p.read)
	p.running.Wait()
	p.giveBack()
	return hex.EncodeToString(p.digest.Sum(nil))
}

func (p *pipe) giveBack() {
	close(p.free)
	for b := range p.free {
		blocks.Put(b)
	}
	close(p.filled)
	for b := range p.filled {
		blocks.Put(b)
	}
}
