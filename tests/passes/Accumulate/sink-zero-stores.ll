; Zeroing a consumed cotangent sinks behind what follows it in its block, as far as memory that is known to be another's allows: on a GPU a
; store between loads costs more than all the rest.
;
; RUN: %opt -passes=adgen-sink-zero-stores -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; Arguments and a thread's own memory are passed; the end of the block is the end of the way.
; CHECK-LABEL: define void @sinks(
; CHECK-NEXT:    %own = alloca float
; CHECK-NEXT:    %at = getelementptr float, ptr %d_y, i64 %i
; CHECK-NEXT:    %cotangent = load float, ptr %at
; CHECK-NEXT:    %v = load float, ptr %x
; CHECK-NEXT:    %w = load float, ptr %own
; CHECK-NEXT:    %part = fmul float %cotangent, %v
; CHECK-NEXT:    store float %part, ptr %x
; CHECK-NEXT:    %old = atomicrmw fadd ptr %d_x, float %part monotonic
; CHECK-NEXT:    store float 0.0{{.*}}, ptr %at
; CHECK-NEXT:    br label %end
define void @sinks(ptr %x, i64 %i, ptr "adgen-shadow" %d_x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:const" {
  %own = alloca float
  %at = getelementptr float, ptr %d_y, i64 %i
  %cotangent = load float, ptr %at
  store float 0.0, ptr %at
  %v = load float, ptr %x
  %w = load float, ptr %own
  %part = fmul float %cotangent, %v
  store float %part, ptr %x
  %old = atomicrmw fadd ptr %d_x, float %part monotonic
  br label %end
end:
  ret void
}

; The bits of a number in half precision are zeroed as an integer.
; CHECK-LABEL: define void @sinks_bits(
; CHECK:         %v = load half, ptr %x
; CHECK:         store half %part, ptr %x
; CHECK-NEXT:    store i16 0, ptr %d_y
define void @sinks_bits(ptr %x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:const" {
  %bits = load i16, ptr %d_y
  store i16 0, ptr %d_y
  %cotangent = bitcast i16 %bits to half
  %v = load half, ptr %x
  %part = fmul half %cotangent, %v
  store half %part, ptr %x
  ret void
}

; Other elements of the same shadow may be the same element, and two zeroings keep their order.
; CHECK-LABEL: define void @stays_before_the_same_shadow(
; CHECK:         %v = load float, ptr %x
; CHECK-NEXT:    store float 0.0{{.*}}, ptr %d_y
; CHECK-NEXT:    %next = load float, ptr %other
; CHECK-NEXT:    %w = load float, ptr %x
; CHECK-NEXT:    store float 0.0{{.*}}, ptr %other
; CHECK-NEXT:    ret void
define void @stays_before_the_same_shadow(ptr %x, i64 %i, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated:const" {
  %other = getelementptr float, ptr %d_y, i64 %i
  store float 0.0, ptr %d_y
  %v = load float, ptr %x
  %next = load float, ptr %other
  store float 0.0, ptr %other
  %w = load float, ptr %x
  ret void
}

; An element that lies a round of the block's threads further is another one, as is the next.
; CHECK-LABEL: define void @passes_other_elements(
; CHECK:         %v = load float, ptr %at
; CHECK-NEXT:    %next = load float, ptr %behind
; CHECK-NEXT:    %far = load float, ptr %round
; CHECK-NEXT:    store float 0.0{{.*}}, ptr %at
; CHECK-NEXT:    ret void
define void @passes_other_elements(i32 %i, ptr "adgen-shadow" %d_y) "adgen-activity"="const" {
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %j = add i32 %i, %size
  %at = getelementptr float, ptr %d_y, i32 %i
  %behind = getelementptr float, ptr %at, i64 1
  %round = getelementptr float, ptr %d_y, i32 %j
  %v = load float, ptr %at
  store float 0.0, ptr %at
  %next = load float, ptr %behind
  %far = load float, ptr %round
  ret void
}

; A round further and one element back may be the same, in blocks of one thread.
; CHECK-LABEL: define void @stays_before_what_may_be_the_same(
; CHECK:         store float 0.0{{.*}}, ptr %at
; CHECK-NEXT:    %far = load float, ptr %before
define void @stays_before_what_may_be_the_same(i32 %i, ptr "adgen-shadow" %d_y) "adgen-activity"="const" {
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %j = add i32 %i, %size
  %at = getelementptr float, ptr %d_y, i32 %i
  %round = getelementptr float, ptr %d_y, i32 %j
  %before = getelementptr float, ptr %round, i64 -1
  store float 0.0, ptr %at
  %far = load float, ptr %before
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

; A call may look at it, and so may a load through a pointer of unknown origin.
; CHECK-LABEL: define void @stays_before_calls(
; CHECK:         store float 0.0{{.*}}, ptr %d_y
; CHECK-NEXT:    call void @barrier()
; CHECK:         store float 0.0{{.*}}, ptr %d_y
; CHECK-NEXT:    %v = load float, ptr %unknown
define void @stays_before_calls(ptr %x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated" {
  %unknown = load ptr, ptr %x
  store float 0.0, ptr %d_y
  call void @barrier()
  store float 0.0, ptr %d_y
  %v = load float, ptr %unknown
  ret void
}
declare void @barrier()

; Only zeros, only shadows, only gradients.
; CHECK-LABEL: define void @not_zero(
; CHECK-NEXT:    store float 1.0{{.*}}, ptr %d_y
; CHECK-NEXT:    store float 0.0{{.*}}, ptr %x
; CHECK-NEXT:    store volatile float 0.0{{.*}}, ptr %d_y
; CHECK-NEXT:    %v = load
define void @not_zero(ptr %x, ptr "adgen-shadow" %d_y) "adgen-activity"="duplicated" {
  store float 1.0, ptr %d_y
  store float 0.0, ptr %x
  store volatile float 0.0, ptr %d_y
  %v = load float, ptr %x
  ret void
}

; CHECK-LABEL: define void @no_gradient(
; CHECK-NEXT:    store float 0.0{{.*}}, ptr %d_y
; CHECK-NEXT:    %v = load
define void @no_gradient(ptr %x, ptr "adgen-shadow" %d_y) {
  store float 0.0, ptr %d_y
  %v = load float, ptr %x
  ret void
}

; A discarded shadow is not zeroed, unless it is read behind that: here in the next iteration.
; CHECK-LABEL: define void @discarded(
; CHECK-NEXT:    %v = load float, ptr %d_y
; CHECK-NEXT:    atomicrmw fadd ptr %d_x, float %v
; CHECK-NEXT:    ret void
define void @discarded(ptr "adgen-shadow" %d_x, ptr "adgen-shadow" "adgen-discarded" %d_y) "adgen-activity"="duplicated:duplicated" {
  %v = load float, ptr %d_y
  store float 0.0, ptr %d_y
  %old = atomicrmw fadd ptr %d_x, float %v monotonic
  ret void
}

; CHECK-LABEL: define void @discarded_in_a_loop(
; CHECK:         store float 0.0{{.*}}, ptr %d_y
define void @discarded_in_a_loop(ptr "adgen-shadow" %d_x, ptr "adgen-shadow" "adgen-discarded" %d_y, i1 %again) "adgen-activity"="duplicated:duplicated" {
  br label %loop
loop:
  %v = load float, ptr %d_y
  store float 0.0, ptr %d_y
  %old = atomicrmw fadd ptr %d_x, float %v monotonic
  br i1 %again, label %loop, label %done
done:
  ret void
}
