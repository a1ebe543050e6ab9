; After Enzyme the adjoint of a copy is a loop: atomic where threads may meet, and in the order that undoes copies that overlap.
;
; RUN: %opt -passes=adgen-expand-copy-adjoints -S %s | %filecheck %s --check-prefixes=CHECK,HOST
; RUN: sed 's/x86_64-pc-linux-gnu/nvptx64-nvidia-cuda/' %s | %opt -passes=adgen-expand-copy-adjoints -S | %filecheck %s --check-prefixes=CHECK,DEVICE
; RUN: sed 's/@adgen_copy_adjoint_double(ptr %/@other(ptr %/' %s | (! %opt -passes=adgen-expand-copy-adjoints -disable-output 2>&1) | %filecheck %s --check-prefix=FOREIGN

target triple = "x86_64-pc-linux-gnu"

; FOREIGN: Enzyme has made __enzyme_memcpyadd_doubleda8sa8

; CHECK-NOT: @__enzyme_memcpyadd

; One thread alone.
; CHECK-LABEL: define void @serial(
; CHECK:         %[[BEHIND:.*]] = icmp ult ptr %copy, %x
; CHECK-NEXT:    br i1 %[[BEHIND]], label %[[BACK:back.*]], label %[[FORTH:forth.*]]
; CHECK:       [[FORTH]]:
; HOST-NOT:      atomicrmw
; CHECK:       [[BACK]]:
; CHECK:         %index{{.*}} = sub i64 %n, %next
; CHECK-NEXT:    %[[FROM:.*]] = getelementptr inbounds double, ptr %copy, i64 %index
; CHECK-NEXT:    %[[INTO:.*]] = getelementptr inbounds double, ptr %x, i64 %index
; CHECK-NEXT:    %[[COTANGENT:.*]] = load double, ptr %[[FROM]], align 8
; CHECK-NEXT:    store double 0.000000e+00, ptr %[[FROM]], align 8
; HOST-NEXT:     %[[OLD:.*]] = load double, ptr %[[INTO]], align 8
; HOST-NEXT:     fadd double %[[OLD]], %[[COTANGENT]]
; DEVICE-NEXT:   atomicrmw fadd ptr %[[INTO]], double %[[COTANGENT]] monotonic
define void @serial(ptr %x, ptr %copy, i64 %n) {
  call void @__enzyme_memcpyadd_doubleda8sa8(ptr %copy, ptr %x, i64 %n)
  ret void
}

; CHECK-LABEL: define internal void @reached(
; CHECK:         atomicrmw fadd ptr %{{.*}}, double
; CHECK:         atomicrmw fadd ptr %{{.*}}, double
define internal void @reached(ptr %x, ptr %copy, i64 %n) {
  call void @adgen_copy_adjoint_double(ptr %copy, ptr %x, i64 %n)
  ret void
}

; A thread's own variable.
; CHECK-LABEL: define internal void @started(
; CHECK-NOT:     atomicrmw
; CHECK:         ret void
define internal void @started(ptr %thread, ptr %bound, ptr %x, ptr %copy) {
  call void @reached(ptr %x, ptr %copy, i64 9)
  %own = alloca [9 x double]
  call void @adgen_copy_adjoint_double(ptr %copy, ptr %own, i64 9)
  ret void
}

define void @f(ptr %x, ptr %copy) {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 2, ptr @started, ptr %x, ptr %copy)
  ret void
}

define internal void @__enzyme_memcpyadd_doubleda8sa8(ptr %0, ptr %1, i64 %2) {
  call void @adgen_copy_adjoint_double(ptr %0, ptr %1, i64 %2)
  ret void
}

declare void @adgen_copy_adjoint_double(ptr, ptr, i64)
declare void @other(ptr, ptr, i64)
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
