; Memory is aligned to 16 bytes at most; what is aligned less stays as it is, but for what is added to atomically.
;
; RUN: %opt -passes=adgen-relax-alignments -S %s | %filecheck %s

; CHECK: @raw = internal addrspace(3) global [128 x i8] undef, align 16
; CHECK: @numbers = internal addrspace(3) global [32 x float] undef, align 4
@raw = internal addrspace(3) global [128 x i8] undef, align 1
@numbers = internal addrspace(3) global [32 x float] undef, align 4

; CHECK-LABEL: define void @k(
; CHECK-NEXT:    %t = alloca [4 x double], align 16
; CHECK-NEXT:    %u = alloca [4 x double], align 8
; CHECK-NEXT:    call void @llvm.memset.p0.i64(ptr align 16 %t, i8 0, i64 32, i1 false)
; CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr align 8 %u, ptr align 16 %t, i64 32, i1 false)
; CHECK-NEXT:    %v = load <4 x double>, ptr %t, align 16
; CHECK-NEXT:    store <4 x double> %v, ptr %u, align 8
define void @k() {
  %t = alloca [4 x double], align 32
  %u = alloca [4 x double], align 8
  call void @llvm.memset.p0.i64(ptr align 32 %t, i8 0, i64 32, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %u, ptr align 32 %t, i64 32, i1 false)
  %v = load <4 x double>, ptr %t, align 32
  store <4 x double> %v, ptr %u, align 8
  ret void
}

; A member that is cleared for itself lies where the offset says.
; CHECK-LABEL: define void @members(
; CHECK:         call void @llvm.memset.p0.i64(ptr align 8 %m, i8 0, i64 16, i1 false)
; CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr align 16 %p, ptr align 8 %m, i64 16, i1 false)
define void @members(ptr %p) {
  %m = getelementptr i8, ptr %p, i64 8
  call void @llvm.memset.p0.i64(ptr align 16 dereferenceable(24) %m, i8 0, i64 16, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %p, ptr align 16 dereferenceable(24) %m, i64 16, i1 false)
  ret void
}

; Nor is more asked of what is added to.
; CHECK-LABEL: define void @added(
; CHECK-NEXT:    %v = atomicrmw fadd ptr %p, float %x monotonic, align 16
; CHECK-NEXT:    %w = atomicrmw fadd ptr %p, float %x monotonic, align 4
define void @added(ptr %p, float %x) {
  %v = atomicrmw fadd ptr %p, float %x monotonic, align 32
  %w = atomicrmw fadd ptr %p, float %x monotonic, align 4
  ret void
}

; An element of a vector lies where its number says, whatever is known of the vector.
; CHECK-LABEL: define void @elements(
; CHECK:         atomicrmw fadd ptr %second, half %x monotonic, align 2
; CHECK:         atomicrmw fadd ptr %third, half %x monotonic, align 4
; CHECK:         atomicrmw fadd ptr %any, half %x monotonic, align 2
define void @elements(ptr %p, half %x, i32 %i) {
  %second = getelementptr <4 x half>, ptr %p, i64 0, i32 1
  %b = atomicrmw fadd ptr %second, half %x monotonic, align 8
  %third = getelementptr <4 x half>, ptr %p, i64 0, i32 2
  %c = atomicrmw fadd ptr %third, half %x monotonic, align 8
  %any = getelementptr <4 x half>, ptr %p, i64 0, i32 %i
  %d = atomicrmw fadd ptr %any, half %x monotonic, align 8
  ret void
}

; A number that is copied by bytes lies where one can be added to.
; CHECK-LABEL: define void @bytes(
; CHECK-NEXT:    %v = atomicrmw fadd ptr %p, float %x monotonic, align 4
; CHECK-NEXT:    %w = atomicrmw fadd ptr %p, double %y monotonic, align 8
define void @bytes(ptr %p, float %x, double %y) {
  %v = atomicrmw fadd ptr %p, float %x monotonic, align 1
  %w = atomicrmw fadd ptr %p, double %y monotonic, align 4
  ret void
}
