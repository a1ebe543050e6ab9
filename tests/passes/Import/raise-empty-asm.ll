; Text without an instruction gives what it takes, also by memory; what only reads or orders is gone. Text with one, and
; a register that nothing was put into, stay.
;
; RUN: %opt -passes='adgen-raise-inline-asm' -S %s | %filecheck %s

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: @held(
; CHECK-NEXT: store <2 x double> %x, ptr %p
; CHECK-NEXT: ret <2 x double> %x
define <2 x double> @held(<2 x double> %x, ptr %p) {
  %a = call <2 x double> asm "", "=x,0,~{dirflag},~{fpsr},~{flags}"(<2 x double> %x)
  call void asm "", "=*x|m,0,~{dirflag},~{fpsr},~{flags}"(ptr elementtype(<2 x double>) %p, <2 x double> %a)
  call void asm sideeffect "#comment", "~{dirflag},~{fpsr},~{flags}"()
  call void asm sideeffect "", "r|m,~{memory}"(<2 x double> %x)
  call void asm sideeffect "", "=*m,*m,~{memory}"(ptr elementtype(double) %p, ptr elementtype(double) %p)
  ret <2 x double> %a
}

; CHECK-LABEL: @several(
; CHECK-NEXT: [[FIRST:%.*]] = insertvalue { double, double } poison, double %y, 0
; CHECK-NEXT: [[PAIR:%.*]] = insertvalue { double, double } [[FIRST]], double %x, 1
; CHECK: %a = extractvalue { double, double } [[PAIR]], 0
; CHECK: %s = fsub double %a, %b
define double @several(double %x, double %y) {
  %pair = call { double, double } asm "", "=x,=x,1,0"(double %x, double %y)
  %a = extractvalue { double, double } %pair, 0
  %b = extractvalue { double, double } %pair, 1
  %s = fsub double %a, %b
  ret double %s
}

; CHECK-LABEL: @kept(
; CHECK-NEXT: call double asm "", "=x"()
; CHECK-NEXT: call float asm "add.f32 $0, $1, $1;", "=x,x"(float %x)
; CHECK-NEXT: call void asm sideeffect "#not\0A only", ""()
; CHECK-NEXT: ret float
define float @kept(float %x) {
  %a = call double asm "", "=x"()
  %b = call float asm "add.f32 $0, $1, $1;", "=x,x"(float %x)
  call void asm sideeffect "#not\0A only", ""()
  ret float %b
}
