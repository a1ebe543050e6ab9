; What threads do to elements under a condition each: all are loaded or taken first, each under its own condition. Where elements may be the
; same, what was stored there counts if that block was gone through.
;
; RUN: %opt -passes=adgen-load-together,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @updates__gradient(
; CHECK:       {{^}}entry:
; CHECK:       %there = getelementptr float, ptr %d, i64 %next
; CHECK-NEXT:  br i1 %one, label %[[EARLY:.*]], label %[[MEET:.*]]
; CHECK:       {{^}}[[EARLY]]:
; CHECK-NEXT:  %first = load float, ptr %at
; CHECK-NEXT:  br label %[[MEET]]
; CHECK:       {{^}}[[MEET]]:
; CHECK-NEXT:  [[FIRST:%.*]] = phi float [ poison, %entry ], [ %first, %[[EARLY]] ]
; CHECK-NEXT:  [[NOT:%.*]] = xor i1 %other, true
; CHECK-NEXT:  br i1 [[NOT]], label %[[LATE:.*]], label %[[BOTH:.*]]
; CHECK:       {{^}}[[LATE]]:
; CHECK-NEXT:  %second = load float, ptr %there
; CHECK:       {{^}}[[BOTH]]:
; CHECK-NEXT:  [[SECOND:%.*]] = phi float [ poison, %[[MEET]] ], [ %second, %[[LATE]] ]
; CHECK-NEXT:  br i1 %one, label %use.one, label %behind
; CHECK:       {{^}}use.one:
; CHECK-NEXT:  %more = fadd float [[FIRST]], %x
; CHECK-NEXT:  store float %more, ptr %at
; CHECK:       {{^}}behind:
; CHECK-NEXT:  [[STORED:%.*]] = phi float [ %more, %use.one ], [ poison, %[[BOTH]] ]
; CHECK-NEXT:  br i1 %other, label %end, label %use.other
; CHECK:       {{^}}use.other:
; CHECK-NEXT:  [[SAME:%.*]] = icmp eq ptr %at, %there
; CHECK-NEXT:  [[COUNTS:%.*]] = select i1 %one, i1 [[SAME]], i1 false
; CHECK-NEXT:  [[FOUND:%.*]] = select i1 [[COUNTS]], float [[STORED]], float [[SECOND]]
; CHECK-NEXT:  fadd float [[FOUND]], %x
define ptx_kernel void @updates__gradient(ptr noalias %d, i64 %i, i64 %n, i64 %rows, float %x) {
entry:
  %one = icmp slt i64 %i, %rows
  br i1 %one, label %use.one, label %behind

use.one:
  %at = getelementptr float, ptr %d, i64 %i
  %first = load float, ptr %at, align 4
  %more = fadd float %first, %x
  store float %more, ptr %at, align 4
  br label %behind

behind:
  %next = add i64 %i, %n
  %other = icmp sge i64 %next, %rows
  br i1 %other, label %end, label %use.other

use.other:
  %there = getelementptr float, ptr %d, i64 %next
  %second = load float, ptr %there, align 4
  %sum = fadd float %second, %x
  store float %sum, ptr %there, align 4
  br label %end

end:
  ret void
}

; Cotangents that are taken need no question: what is taken first is first there, too.
; CHECK-LABEL: define ptx_kernel void @taken__gradient(
; CHECK:       atomicrmw xchg ptr %at
; CHECK:       atomicrmw xchg ptr %there
; CHECK:       atomicrmw fadd
; CHECK-NOT:   select
; CHECK:       ret void
define ptx_kernel void @taken__gradient(ptr noalias %d, ptr noalias %a, i64 %i, i64 %n, i64 %rows) {
entry:
  %one = icmp slt i64 %i, %rows
  br i1 %one, label %use.one, label %behind

use.one:
  %at = getelementptr float, ptr %d, i64 %i
  %first = atomicrmw xchg ptr %at, float 0.0 monotonic, align 4, !adgen.consumed !0
  %to = getelementptr float, ptr %a, i64 %i
  atomicrmw fadd ptr %to, float %first monotonic, align 4
  br label %behind

behind:
  %next = add i64 %i, %n
  %two = icmp slt i64 %next, %rows
  br i1 %two, label %use.other, label %end

use.other:
  %there = getelementptr float, ptr %d, i64 %next
  %second = atomicrmw xchg ptr %there, float 0.0 monotonic, align 4, !adgen.consumed !0
  %at.to = getelementptr float, ptr %a, i64 %next
  atomicrmw fadd ptr %at.to, float %second monotonic, align 4
  br label %end

end:
  ret void
}

; Where something else may be stored to the element, where the block waits in between, where the place is not known before, and where
; nothing holds the second load up, all stays.
; CHECK-LABEL: define ptx_kernel void @other_store__gradient(
; CHECK:       {{^}}use.other:
; CHECK:       load float, ptr %there
define ptx_kernel void @other_store__gradient(ptr %d, ptr %e, i64 %n, i1 %one, i1 %two, float %x) {
entry:
  %there = getelementptr float, ptr %d, i64 %n
  br i1 %one, label %use.one, label %behind

use.one:
  %first = load float, ptr %d, align 4
  store float %x, ptr %e, align 4
  store float %first, ptr %d, align 4
  br label %behind

behind:
  br i1 %two, label %use.other, label %end

use.other:
  %second = load float, ptr %there, align 4
  %sum = fadd float %second, %x
  store float %sum, ptr %there, align 4
  br label %end

end:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @barrier__gradient(
; CHECK:       {{^}}use.other:
; CHECK:       load float, ptr %there
define ptx_kernel void @barrier__gradient(ptr noalias %d, ptr noalias %there, i1 %one, i1 %two, float %x) {
entry:
  br i1 %one, label %use.one, label %behind

use.one:
  %first = load float, ptr %d, align 4
  %more = fadd float %first, %x
  store float %more, ptr %d, align 4
  br label %behind

behind:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %two, label %use.other, label %end

use.other:
  %second = load float, ptr %there, align 4
  %sum = fadd float %second, %x
  store float %sum, ptr %there, align 4
  br label %end

end:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @read_place__gradient(
; CHECK:       {{^}}use.other:
; CHECK:       load float, ptr %there
define ptx_kernel void @read_place__gradient(ptr noalias %d, ptr noalias %places, i1 %one, i1 %two, float %x) {
entry:
  br i1 %one, label %use.one, label %behind

use.one:
  %first = load float, ptr %d, align 4
  %more = fadd float %first, %x
  store float %more, ptr %d, align 4
  br label %behind

behind:
  br i1 %two, label %use.other, label %end

use.other:
  %there = load ptr, ptr %places, align 8
  %second = load float, ptr %there, align 4
  %sum = fadd float %second, %x
  store float %sum, ptr %there, align 4
  br label %end

end:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @no_write__gradient(
; CHECK:       {{^}}use.other:
; CHECK:       load float, ptr %there
define ptx_kernel void @no_write__gradient(ptr noalias %d, ptr noalias %there, ptr noalias %out, i1 %one, i1 %two) {
entry:
  br i1 %one, label %use.one, label %behind

use.one:
  %first = load float, ptr %d, align 4
  br label %behind

behind:
  %sum = phi float [ 0.0, %entry ], [ %first, %use.one ]
  br i1 %two, label %use.other, label %end

use.other:
  %second = load float, ptr %there, align 4
  %more = fadd float %second, %sum
  br label %end

end:
  %all = phi float [ %sum, %behind ], [ %more, %use.other ]
  store float %all, ptr %out, align 4
  ret void
}

!0 = !{}
