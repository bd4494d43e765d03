// SPDX-License-Identifier: Apache-2.0

package sandbox

import "crypto/sha256"

// memorySize is how many results are remembered.
const memorySize = 64

// memory holds the last results by the digest of what they came from: one file always gives the same result.
type memory map[[sha256.Size]byte]answer

func (m memory) recall(input []byte) (answer, bool) {
	a, ok := m[sha256.Sum256(input)]
	return a, ok
}

func (m memory) keep(input []byte, a answer) {
	if len(m) >= memorySize {
		for any := range m {
			delete(m, any)
			break
		}
	}
	m[sha256.Sum256(input)] = a
}
