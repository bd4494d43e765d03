// SPDX-License-Identifier: Apache-2.0

//go:build faults

package chaos

// thorough says whether every fault is tried, or one of each sort.
const thorough = true
