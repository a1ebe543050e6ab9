; On a way of the reverse sweep on which cotangents are zero, blocks that add zeros are left out, with the decision of
; the loop behind them; not where something else than zeros is added or written, nor in the primal.
;
; RUN: %opt -passes=adgen-bypass-zeros -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; A candidate was dismissed at one of two places. What remains of the sweep is one block.
; CHECK-LABEL: define void @dismissed(
; CHECK:       invertloop:
; CHECK:         br i1 %far, label %[[FIRST:.*]], label %invertnear
; CHECK:       invertnear:
; CHECK:         br i1 %faint, label %[[SECOND:.*]], label %invertused
; CHECK:       invertused:
; CHECK-NEXT:    %g = fmul float %c, %w
; CHECK-NEXT:    atomicrmw fadd ptr %a, float %g
; CHECK-NEXT:    %h = fmul float %g, 2.000000e+00
; CHECK-NOT:     phi
; CHECK:         atomicrmw fadd ptr %b, float
; CHECK:         %carried = fadd float %c,
; CHECK-NOT:     icmp
; CHECK:         br label %[[DECIDES:.*]]
; CHECK:       [[SECOND]]:
; CHECK-NEXT:    br label %[[DECIDES]]
; CHECK:       [[FIRST]]:
; CHECK-NEXT:    br label %[[DECIDES]]
; CHECK:       [[DECIDES]]:
; CHECK-NEXT:    %[[NEXT:.*]] = phi float [ %c, %[[FIRST]] ], [ %carried, %invertused ], [ %c, %[[SECOND]] ]
; CHECK-NEXT:    %last = icmp eq i64 %i, 0
; CHECK-NEXT:    br i1 %last, label %end, label %turn
; CHECK:       turn:
; CHECK:       end:
; CHECK-NEXT:    %left = phi float [ %[[NEXT]], %[[DECIDES]] ]
define void @dismissed(ptr %a, ptr %b, float %w, float %seed, i64 %n, ptr %to) "adgen-activity"="duplicated:duplicated:const:const:const:const" {
entry:
  br label %invertloop
invertloop:
  %i = phi i64 [ %n, %entry ], [ %down, %turn ]
  %c = phi float [ %seed, %entry ], [ %carried, %turn ]
  %x = sitofp i64 %i to float
  %far = fcmp ogt float %x, 9.0
  br i1 %far, label %invertboth, label %invertnear
invertnear:
  %faint = fcmp olt float %w, %x
  %chosen = select i1 %faint, float 0.0, float %c
  br i1 %faint, label %invertsome, label %invertused
invertused:
  %g = fmul float %c, %w
  %1 = atomicrmw fadd ptr %a, float %g monotonic, align 4
  %h = fmul float %g, 2.0
  br label %invertsome
invertsome:
  %s = phi float [ %h, %invertused ], [ %chosen, %invertnear ]
  %t = fneg float %s
  br label %invertboth
invertboth:
  %r = phi float [ %t, %invertsome ], [ 0.0, %invertloop ]
  %u = fdiv float %r, %x
  %2 = atomicrmw fadd ptr %b, float %u monotonic, align 4
  %carried = fadd float %c, %u
  %last = icmp eq i64 %i, 0
  br i1 %last, label %end, label %turn
turn:
  %down = add i64 %i, -1
  br label %invertloop
end:
  %left = phi float [ %carried, %invertboth ]
  store float %left, ptr %to
  ret void
}

; CHECK-LABEL: define void @more_than_zeros(
; CHECK:       invertloop:
; CHECK:         br i1 %far, label %invertboth, label %invertnear
; CHECK-NOT:     bypassed
; CHECK:         ret void
define void @more_than_zeros(ptr %a, float %w, i64 %n, ptr %to) "adgen-activity"="duplicated:const:const:const" {
entry:
  br label %invertloop
invertloop:
  %i = phi i64 [ %n, %entry ], [ %down, %invertboth ]
  %x = sitofp i64 %i to float
  %far = fcmp ogt float %x, 9.0
  br i1 %far, label %invertboth, label %invertnear
invertnear:
  br label %invertboth
invertboth:
  %r = phi float [ %w, %invertnear ], [ 0.0, %invertloop ]
  %1 = atomicrmw fadd ptr %a, float %r monotonic, align 4
  store float %x, ptr %to
  %last = icmp eq i64 %i, 0
  %down = add i64 %i, -1
  br i1 %last, label %end, label %invertloop
end:
  ret void
}

; CHECK-LABEL: define void @another_number(
; CHECK-NOT:     bypassed
; CHECK:         ret void
define void @another_number(ptr %a, float %w, i64 %n) "adgen-activity"="duplicated:const:const" {
entry:
  br label %invertloop
invertloop:
  %i = phi i64 [ %n, %entry ], [ %down, %invertboth ]
  %x = sitofp i64 %i to float
  %far = fcmp ogt float %x, 9.0
  br i1 %far, label %invertboth, label %invertnear
invertnear:
  br label %invertboth
invertboth:
  %r = phi float [ %w, %invertnear ], [ 0.0, %invertloop ]
  %sum = fadd float %r, %x
  %1 = atomicrmw fadd ptr %a, float %sum monotonic, align 4
  %last = icmp eq i64 %i, 0
  %down = add i64 %i, -1
  br i1 %last, label %end, label %invertloop
end:
  ret void
}

; CHECK-LABEL: define void @primal(
; CHECK-NOT:     bypassed
; CHECK:         ret void
define void @primal(ptr %a, float %w, i64 %n) "adgen-activity"="duplicated:const:const" {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %down, %both ]
  %x = sitofp i64 %i to float
  %far = fcmp ogt float %x, 9.0
  br i1 %far, label %both, label %near
near:
  br label %both
both:
  %r = phi float [ %w, %near ], [ 0.0, %loop ]
  %1 = atomicrmw fadd ptr %a, float %r monotonic, align 4
  %last = icmp eq i64 %i, 0
  %down = add i64 %i, -1
  br i1 %last, label %end, label %loop
end:
  ret void
}
