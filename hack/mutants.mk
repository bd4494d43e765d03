# Whether tests see what they are for: each guard is taken away once.

##@ Check

.PHONY: test-mutants
test-mutants: $(STACK) web ## Take each guard away and see its test turn red; GUARDS="words" for those whose guard, file or test holds one
	@go run ./hack/mutants $(GUARDS)
