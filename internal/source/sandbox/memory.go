// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/sha256"
	"sync"
)

// memorySize is how many results are remembered.
const memorySize = 64

// memory holds the last results by the digest of what they came from: one file always gives the same result. It is safe
// for concurrent use.
type memory struct {
	mu      sync.Mutex
	answers map[[sha256.Size]byte]answer
}

func newMemory() *memory { return &memory{answers: map[[sha256.Size]byte]answer{}} }

func (m *memory) recall(input []byte) (answer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.answers[sha256.Sum256(input)]
	return a, ok
}

func (m *memory) keep(input []byte, a answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.answers) >= memorySize {
		for any := range m.answers {
			delete(m.answers, any)
			break
		}
	}
	m.answers[sha256.Sum256(input)] = a
}
