; A loop that is entered at two places, as the reverse of one that is left at two, gets one entry, which is kept from
; being copied to where it is entered from. Other functions stay as they are.
;
; RUN: %opt -passes=adgen-make-loops-reducible,verify -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define ptx_kernel void @two_entries(
; CHECK:         br label %[[GUARD:irr.*]]
; CHECK:       first:
; CHECK:         br i1 %more, label %[[GUARD]], label %out
; CHECK:       second:
; CHECK:         br label %first
; CHECK:       [[GUARD]]:
; CHECK:         %[[WAY:.*]] = phi i1
; CHECK:         call void asm sideeffect "", ""() #[[CONVERGENT:[0-9]+]]
; CHECK-NEXT:    br i1 %[[WAY]], label %
define ptx_kernel void @two_entries(ptr %x, i1 %low) {
entry:
  br i1 %low, label %first, label %second

first:
  %i = phi i64 [ 0, %entry ], [ %next, %second ]
  %at = getelementptr double, ptr %x, i64 %i
  store double 1.0, ptr %at
  %more = icmp ult i64 %i, 9
  br i1 %more, label %second, label %out

second:
  %k = phi i64 [ 5, %entry ], [ %i, %first ]
  %next = add i64 %k, 1
  br label %first

out:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @one_entry(
; CHECK-NOT:     asm
; CHECK:         switch
define ptx_kernel void @one_entry(ptr %x, i32 %n) {
entry:
  br label %loop

loop:
  store double 1.0, ptr %x
  switch i32 %n, label %loop [
    i32 1, label %out
    i32 2, label %out
  ]

out:
  ret void
}

; CHECK: attributes #[[CONVERGENT]] = { convergent }
