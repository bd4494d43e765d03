# The proof under faults: internal/chaos in full. make test-slow runs a short part of it.

##@ Check

FAULTS := .local/faults.txt

.PHONY: test-faults
test-faults: $(STACK) web ## Place every fault at every write, kill and stop everything, and print what survived
	@mkdir -p .local
	@rm -f $(FAULTS)
	@# The stories mostly wait: more of them at once than there are processors.
	@$(STEP) "faults" env CONVENE_FAULTS=$(CURDIR)/$(FAULTS) \
		go test -tags faults -count=1 -timeout 90m -parallel 7 $(TESTFLAGS) ./internal/chaos || { cat $(FAULTS); exit 1; }
	@cat $(FAULTS)

.PHONY: test-endurance
test-endurance: $(STACK) ## Make and end LIVES (100000) meetings with one process, which must keep nothing of them
	@$(STEP) "endurance" env CONVENE_LIVES=$(or $(LIVES),100000) \
		go test -tags slow -count=1 -timeout 3h -run TestMeetingsLeaveNothingBehind -v ./cmd/manager
