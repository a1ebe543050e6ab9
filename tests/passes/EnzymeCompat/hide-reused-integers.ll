; Integers in a shared array that holds numbers at another time are hidden from Enzyme, and what they are written over is cleared.
;
; RUN: %opt -passes=adgen-hide-reused-integers -S %s | %filecheck %s

target datalayout = "e-i64:64"

; CHECK-LABEL: define void @adgen_body_once({{.*}} %k, ptr "adgen-layout"="4{{.}}0f4]" %room)
; CHECK: call void @adgen_rule_clear_4(ptr [[MINE:%.*]])
; CHECK-NEXT: call void @adgen_integer_access{{.*}}(i32 %count, ptr [[MINE]])
; CHECK: call i32 @adgen_integer_access{{.*}}(ptr %other)
; CHECK: store float %square, ptr %mine
define void @adgen_body_once(ptr %x, ptr "adgen-layout"="4[0i4]" %k, ptr "adgen-layout"="4[0i4]" %room) "adgen-shared"="room" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i32, ptr %room, i32 %t
  %count = load i32, ptr %k
  store i32 %count, ptr %mine, align 4
  call void @adgen_rule_barrier(ptr %room)
  %back = sub i32 31, %t
  %other = getelementptr i32, ptr %room, i32 %back
  %place = load i32, ptr %other, align 4
  call void @adgen_rule_barrier(ptr %room)
  %v = load float, ptr %x
  %square = fmul float %v, %v
  store float %square, ptr %mine, align 4
  call void @adgen_rule_barrier(ptr %room)
  %there = getelementptr float, ptr %room, i32 %place
  %found = load float, ptr %there, align 4
  store float %found, ptr %x
  ret void
}

; A sum of integers, which reads what others have added: before it the integers were set, also where a thread may set none.
; CHECK-LABEL: define void @adgen_body_counted(
; CHECK: call void @adgen_integer_access{{.*}}(i32 0, ptr %cell)
; CHECK: call void @adgen_rule_clear_4(ptr %cell)
; CHECK-NEXT: call i32 @adgen_integer_access{{.*}}(ptr %cell, i32 1)
; CHECK: load float, ptr %cell
define void @adgen_body_counted(ptr %x, i1 %has, ptr %room) "adgen-shared"="room" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr float, ptr %room, i32 %t
  store float 1.0, ptr %cell
  br i1 %has, label %set, label %count
set:
  store i32 0, ptr %cell
  br label %count
count:
  call void @adgen_rule_barrier(ptr %room)
  %before = atomicrmw add ptr %cell, i32 1 monotonic
  store float 2.0, ptr %cell
  %v = load float, ptr %cell
  store float %v, ptr %x
  ret void
}

; Sixteen bytes at once, and bytes.
; CHECK-LABEL: define void @adgen_body_wide(
; CHECK: call void @adgen_rule_clear_8(ptr %cell)
; CHECK-NEXT: [[NEXT:%.*]] = getelementptr inbounds i8, ptr %cell, i64 8
; CHECK-NEXT: call void @adgen_rule_clear_8(ptr [[NEXT]])
; CHECK-NEXT: call void @adgen_integer_access{{.*}}(<4 x i32> %four, ptr %cell)
; CHECK: call void @adgen_rule_clear_1(ptr %cell)
define void @adgen_body_wide(ptr %x, <4 x i32> %four, ptr %room) "adgen-shared"="room" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr float, ptr %room, i32 %t
  store <4 x i32> %four, ptr %cell, align 16
  store i8 1, ptr %cell
  %v = load float, ptr %cell
  store float %v, ptr %x
  ret void
}

; Integers behind the numbers, bits of numbers that were counted with, or become numbers again, and numbers that are moved as integers are left
; alone.
; CHECK-LABEL: define void @adgen_body_carved(
; CHECK-NOT: adgen_integer_access
; CHECK: ret void
define void @adgen_body_carved(ptr %x, i32 %size, ptr %room) "adgen-shared"="room" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr float, ptr %room, i32 %t
  %behind = getelementptr float, ptr %room, i32 %size
  %count = getelementptr i32, ptr %behind, i32 %t
  store i32 1, ptr %count
  %v = load float, ptr %cell
  store float %v, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_body_bits(
; CHECK-NOT: adgen_integer_access
; CHECK: ret void
define void @adgen_body_bits(ptr %x, ptr %room) "adgen-shared"="room" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr float, ptr %room, i32 %t
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  %more = add i32 %bits, 8388608
  store i32 %more, ptr %cell
  %w = load float, ptr %cell
  store float %w, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_body_again(
; CHECK-NOT: adgen_integer_access
; CHECK: ret void
define void @adgen_body_again(ptr %x, ptr %room) "adgen-shared"="room" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr float, ptr %room, i32 %t
  %v = load float, ptr %x
  store float %v, ptr %cell
  %bits = load i32, ptr %cell
  %more = add i32 %bits, 8388608
  %w = bitcast i32 %more to float
  store float %w, ptr %x
  ret void
}

; CHECK-LABEL: define void @adgen_body_moved(
; CHECK-NOT: adgen_integer_access
; CHECK: ret void
define void @adgen_body_moved(ptr %x, ptr %room) "adgen-shared"="room" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr float, ptr %room, i32 %t
  store i32 0, ptr %cell
  %v = load float, ptr %x
  store float %v, ptr %cell
  %next = getelementptr float, ptr %cell, i32 32
  %word = load i32, ptr %cell
  store i32 %word, ptr %next
  %w = load float, ptr %next
  store float %w, ptr %x
  ret void
}

; The integers may have been set where the numbers are read again that were moved.
; CHECK-LABEL: define void @adgen_body_padded(
; CHECK-NOT: adgen_integer_access
; CHECK: ret void
define void @adgen_body_padded(ptr %x, ptr %room) "adgen-shared"="room" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr float, ptr %room, i32 %t
  %v = load float, ptr %x
  store float %v, ptr %cell
  %next = getelementptr float, ptr %cell, i32 32
  store i32 0, ptr %next
  %word = load i32, ptr %cell
  store i32 %word, ptr %next
  %w = load float, ptr %next
  store float %w, ptr %x
  ret void
}

; Bits of numbers that are stored or loaded as they are, are numbers.
; CHECK-LABEL: define void @adgen_body_stored_bits(
; CHECK: call void @adgen_integer_access
; CHECK: %[[CHOSEN:.*]] = phi float [ 0.000000e+00, %entry ], [ %v, %has ]
; CHECK: store float %[[CHOSEN]], ptr %cell
; CHECK: %[[FOUND:.*]] = load float, ptr %cell
; CHECK: store float %[[FOUND]], ptr %x
define void @adgen_body_stored_bits(ptr %x, i1 %any, ptr %room) "adgen-shared"="room" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr i32, ptr %room, i32 %t
  store i32 1, ptr %cell
  br i1 %any, label %has, label %next
has:
  %v = load float, ptr %x
  %bits = bitcast float %v to i32
  br label %next
next:
  %chosen = phi i32 [ 0, %entry ], [ %bits, %has ]
  store i32 %chosen, ptr %cell
  %found = load i32, ptr %cell
  %w = bitcast i32 %found to float
  store float %w, ptr %x
  %read = load float, ptr %cell
  store float %read, ptr %x
  ret void
}

; Numbers of two kinds: those that are met less often are moved by a rule.
; CHECK-LABEL: define void @adgen_body_two(
; CHECK: %[[VARIABLE:.*]] = alloca double
; CHECK: store double %d, ptr %[[VARIABLE]]
; CHECK-NEXT: call void @adgen_rule_put_f64(ptr %cell, ptr %[[VARIABLE]])
; CHECK: store float 2.000000e+00, ptr %cell
; CHECK: load float, ptr %cell
define void @adgen_body_two(ptr %x, double %d, ptr %room) "adgen-shared"="room" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cell = getelementptr float, ptr %room, i32 %t
  store double %d, ptr %cell
  store float 2.0, ptr %cell
  %v = load float, ptr %cell
  store float %v, ptr %x
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @adgen_rule_barrier(ptr)
