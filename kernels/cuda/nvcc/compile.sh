#!/bin/sh
# compile.sh RESOURCES COMMAND...: runs nvcc, and keeps what ptxas tells of each kernel's registers and shared memory in
# RESOURCES; where nvcc fails, all that it said is shown.
resources=$1
shift
"$@" >"$resources" 2>&1 && exit 0
status=$?
cat "$resources" >&2
exit $status
