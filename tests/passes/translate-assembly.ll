; Inline PTX of plain arithmetic becomes instructions; what is not understood stays as it is, as a whole.
;
; RUN: %opt -passes='adgen-translate-assembly,dce' -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; A __half is the short inside it.
; CHECK-LABEL: @widened(
; CHECK-NEXT: [[HALF:%.*]] = bitcast i16 %x to half
; CHECK-NEXT: [[WIDE:%.*]] = fpext half [[HALF]] to float
; CHECK-NEXT: ret float [[WIDE]]
define float @widened(i16 %x) {
  %v = call float asm "{  cvt.f32.f16 $0, $1;}\0A", "=f,h"(i16 %x)
  ret float %v
}

; CHECK-LABEL: @narrowed(
; CHECK-NEXT: [[HALF:%.*]] = fptrunc float %x to half
; CHECK-NEXT: bitcast half [[HALF]] to i16
define i16 @narrowed(float %x) {
  %v = call i16 asm "{  cvt.rn.f16.f32 $0, $1;}\0A", "=h,f"(float %x)
  ret i16 %v
}

; Two numbers in one register, and registers of its own.
; CHECK-LABEL: @second(
; CHECK: [[PAIR:%.*]] = bitcast i32 %x to <2 x i16>
; CHECK: [[HIGH:%.*]] = extractelement <2 x i16> [[PAIR]], i64 1
; CHECK: bitcast i16 [[HIGH]] to half
; CHECK: fpext half
define float @second(i32 %x) {
  %v = call float asm "{.reg .f16 low,high;\0A  mov.b32 {low,high},$1;\0A  cvt.f32.f16 $0, high;}\0A", "=f,r"(i32 %x)
  ret float %v
}

; CHECK-LABEL: @multiplied(
; CHECK: call <2 x half> @llvm.fma.v2f16(
define i32 @multiplied(i32 %x, i32 %y, i32 %z) {
  %v = call i32 asm "{fma.rn.f16x2 $0,$1,$2,$3;\0A}", "=r,r,r,r"(i32 %x, i32 %y, i32 %z)
  ret i32 %v
}

; CHECK-LABEL: @approximate(
; CHECK-NEXT: [[POWER:%.*]] = call arcp afn float @llvm.exp2.f32(float %x)
; CHECK-NEXT: ret float [[POWER]]
define float @approximate(float %x) {
  %v = call float asm "ex2.approx.ftz.f32 $0, $1;", "=f,f"(float %x)
  ret float %v
}

; CHECK-LABEL: @lane(
; CHECK-NEXT: call {{.*}}i32 @llvm.nvvm.read.ptx.sreg.laneid()
define i32 @lane() {
  %v = call i32 asm sideeffect "mov.u32 $0, %laneid;", "=r"()
  ret i32 %v
}

; An operand that is read and written.
; CHECK-LABEL: @updated(
; CHECK-NEXT: fadd float %x, %y
define float @updated(float %x, float %y) {
  %v = call float asm "add.f32 $0, $0, $1;", "=f,f,0"(float %y, float %x)
  ret float %v
}

; Hints change nothing; a fence does.
; CHECK-LABEL: @hinted(
; CHECK-NEXT: asm sideeffect "membar.gl;"
; CHECK-NEXT: ret void
define void @hinted(ptr %p) {
  call void asm sideeffect "nanosleep.u32 $0;", "r"(i32 100)
  call void asm sideeffect "prefetch.global.L1 [$0];", "l"(ptr %p)
  call void asm sideeffect "membar.gl;", ""()
  ret void
}

; CHECK-LABEL: @kept(
; CHECK-NEXT: asm "add.rz.f32
; CHECK-NEXT: asm sideeffect "ld.global
; CHECK-NEXT: asm "vabsdiff4
define float @kept(float %x, ptr %p, i32 %i) {
  %a = call float asm "add.rz.f32 $0, $1, $1;", "=f,f"(float %x)
  %b = call float asm sideeffect "ld.global.f32 $0, [$1];", "=f,l,~{memory}"(ptr %p)
  %c = call i32 asm "vabsdiff4.u32.u32.u32.add $0, $1, $1, $1;", "=r,r"(i32 %i)
  %f = sitofp i32 %c to float
  %s = fadd float %a, %b
  %t = fadd float %s, %f
  ret float %t
}
