// SPDX-License-Identifier: MIT
// Stacks that grow, and so are moved, while functions are on them: 1000 calls of main.dive.
package main

import "sync"

//go:noinline
func dive(depth int) int {
	var room [512]byte
	if depth > 0 {
		return dive(depth-1) + 1
	}
	return int(room[0])
}

func main() {
	var group sync.WaitGroup
	var lock sync.Mutex
	total := 0
	for i := 0; i < 20; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			depth := dive(49)
			lock.Lock()
			total += depth
			lock.Unlock()
		}()
	}
	group.Wait()
	println("total", total)
}
