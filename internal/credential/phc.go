// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

const argon2Prefix = "$argon2id$"

// Bounds of a stored hash: Secrets are written by people, and a hostile one must not take the memory or the processor of every other
// tenant. A pass over 64 MiB takes 50 ms of a processor. OWASP's settings take 19 to 46 MiB, and RFC 9106's for little memory three passes
// over 64.
const (
	maxArgon2Memory  = 64 << 10            // KiB
	maxArgon2Work    = 3 * maxArgon2Memory // memory times passes
	maxArgon2Time    = 10
	maxArgon2Threads = 16
	maxArgon2String  = 256 // bytes
)

// argon2Params are the cost of a hash.
type argon2Params struct {
	memory  uint32 // KiB
	time    uint32 // passes
	threads uint8
}

// argon2Hash is an Argon2id hash with all that is needed to compute it again.
type argon2Hash struct {
	argon2Params
	salt, sum []byte
}

var errPHC = errors.New("this is no Argon2id hash that can be checked: put the password itself into the Secret, or a hash of at most 64 MiB with three passes")

// String is the hash in the PHC string format, which most password tools read.
func (h argon2Hash) String() string {
	return fmt.Sprintf("%sv=%d$m=%d,t=%d,p=%d$%s$%s", argon2Prefix, argon2.Version, h.memory, h.time, h.threads,
		base64.RawStdEncoding.EncodeToString(h.salt), base64.RawStdEncoding.EncodeToString(h.sum))
}

// parseArgon2 reads a hash in the PHC string format, with its three parameters in their usual order.
func parseArgon2(s string) (argon2Hash, error) {
	rest, isArgon2 := strings.CutPrefix(s, argon2Prefix)
	fields := strings.Split(rest, "$")
	if !isArgon2 || len(s) > maxArgon2String || len(fields) != 4 || fields[0] != fmt.Sprintf("v=%d", argon2.Version) {
		return argon2Hash{}, errPHC
	}
	params, err := parseArgon2Params(fields[1])
	if err != nil {
		return argon2Hash{}, err
	}
	h := argon2Hash{argon2Params: params}
	if h.salt, err = decodePHC(fields[2], 8, 64); err != nil {
		return argon2Hash{}, err
	}
	if h.sum, err = decodePHC(fields[3], 16, 64); err != nil {
		return argon2Hash{}, err
	}
	return h, nil
}

func parseArgon2Params(s string) (argon2Params, error) {
	fields := strings.Split(s, ",")
	if len(fields) != 3 {
		return argon2Params{}, errPHC
	}
	memory, err1 := phcNumber(fields[0], "m=", maxArgon2Memory)
	time, err2 := phcNumber(fields[1], "t=", maxArgon2Time)
	threads, err3 := phcNumber(fields[2], "p=", maxArgon2Threads)
	// RFC 9106, section 3.1: at least eight blocks of 1 KiB a lane.
	if err := errors.Join(err1, err2, err3); err != nil || memory < 8*threads || memory*time > maxArgon2Work {
		return argon2Params{}, errPHC
	}
	return argon2Params{memory: memory, time: time, threads: uint8(threads)}, nil
}

func phcNumber(s, name string, greatest uint64) (uint32, error) {
	digits, found := strings.CutPrefix(s, name)
	n, err := strconv.ParseUint(digits, 10, 32)
	if !found || err != nil || n < 1 || n > greatest {
		return 0, errPHC
	}
	return uint32(n), nil
}

func decodePHC(s string, least, most int) ([]byte, error) {
	b, err := base64.RawStdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < least || len(b) > most {
		return nil, errPHC
	}
	return b, nil
}
