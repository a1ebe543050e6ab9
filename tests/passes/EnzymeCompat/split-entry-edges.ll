; A block of a loop that is entered at two places leads to both entries. LLVM's fix-irreducible leads the edge to one of
; them away and took the number of the other one along: %next never came to @walks_back's first entry, which ran for
; ever.
;
; RUN: %opt -passes=adgen-split-entry-edges -S %s | %filecheck %s
; RUN: %opt -passes=adgen-split-entry-edges,fix-irreducible,verify -S %s | %filecheck %s --check-prefix=ONE
; RUN: %opt -passes=adgen-make-loops-reducible,verify -S %s | %filecheck %s --check-prefix=ONE

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @walks_back(
; CHECK:       latch:
; CHECK:         br i1 %kept, label %[[FIRST:.*]], label %[[SECOND:.*]]
; CHECK-DAG:   [[FIRST]]:
; CHECK-DAG:     br label %first
; CHECK-DAG:   [[SECOND]]:
; CHECK-DAG:     br label %second

; The numbers that the latch hands on come to both entries.
; ONE-LABEL: define void @walks_back(
; ONE:       first:
; ONE-NEXT:    phi i64{{.*}} [ %next, %latch.first_crit_edge ]
; ONE:         phi i64{{.*}} [ %next, %latch.second_crit_edge ]
define void @walks_back(i1 %low, i64 %n, ptr %p) {
entry:
  br i1 %low, label %first, label %second

first:
  %a = phi i64 [ %n, %entry ], [ %next, %latch ]
  store volatile i64 %a, ptr %p
  br label %end

second:
  %b = phi i64 [ %n, %entry ], [ %next, %latch ]
  br label %end

end:
  %e = phi i64 [ %a, %first ], [ %b, %second ]
  %last = icmp eq i64 %e, 0
  br i1 %last, label %out, label %latch

latch:
  %next = add i64 %e, -1
  %kept = load volatile i1, ptr %p
  br i1 %kept, label %first, label %second

out:
  ret void
}

; An entry leads to itself: fix-irreducible's output was no valid code.
; CHECK-LABEL: define void @repeats(
; CHECK:         br i1 %again, label %[[AGAIN:.*]], label %[[ON:.*]]
; CHECK-DAG:   [[AGAIN]]:
; CHECK-DAG:     br label %first
; ONE-LABEL: define void @repeats(
define void @repeats(i1 %low, i64 %n, ptr %p) {
entry:
  br i1 %low, label %first, label %second

first:
  %a = phi i64 [ %n, %entry ], [ %next, %second ], [ %less, %first ]
  %less = add i64 %a, -1
  %again = load volatile i1, ptr %p
  br i1 %again, label %first, label %second

second:
  %b = phi i64 [ %n, %entry ], [ %less, %first ]
  %next = add i64 %b, -2
  %last = icmp eq i64 %b, 0
  br i1 %last, label %out, label %first

out:
  ret void
}

; With one entry nothing is to be done.
; CHECK-LABEL: define void @one_entry(
; CHECK-NOT:     crit_edge
; CHECK:         ret void
define void @one_entry(i64 %n, ptr %p) {
entry:
  br label %loop

loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %next = add i64 %i, -1
  store volatile i64 %i, ptr %p
  %more = icmp ne i64 %next, 0
  br i1 %more, label %loop, label %out

out:
  ret void
}
