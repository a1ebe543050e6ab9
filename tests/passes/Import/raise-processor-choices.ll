; A maximum or minimum of the processor's is a choice, which gives the source where a number is NaN. Other instructions,
; and operands in memory, stay assembly.
;
; RUN: %opt -passes='adgen-raise-inline-asm' -S %s | %filecheck %s

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: @two(
; CHECK-NEXT: [[MORE:%.*]] = fcmp ogt <2 x double> %b, %a
; CHECK-NEXT: [[CHOSEN:%.*]] = select <2 x i1> [[MORE]], <2 x double> %b, <2 x double> %a
; CHECK-NEXT: ret <2 x double> [[CHOSEN]]
define <2 x double> @two(<2 x double> %a, <2 x double> %b) {
  %r = call <2 x double> asm "maxpd $1, $0", "=x,x,0,~{dirflag},~{fpsr},~{flags}"(<2 x double> %a, <2 x double> %b)
  ret <2 x double> %r
}

; CHECK-LABEL: @three(
; CHECK-NEXT: [[LESS:%.*]] = fcmp olt <8 x float> %b, %a
; CHECK-NEXT: [[CHOSEN:%.*]] = select <8 x i1> [[LESS]], <8 x float> %b, <8 x float> %a
; CHECK-NEXT: ret <8 x float> [[CHOSEN]]
define <8 x float> @three(<8 x float> %a, <8 x float> %b) {
  %r = call <8 x float> asm "vminps $1, $2, $0", "=x,x,x,~{dirflag},~{fpsr},~{flags}"(<8 x float> %a, <8 x float> %b)
  ret <8 x float> %r
}

; CHECK-LABEL: @kept(
; CHECK-NEXT: call <2 x double> asm "addpd $1, $0"
; CHECK-NEXT: call <2 x double> asm "maxpd $1, $0", "=x,*m,0"
; CHECK-NEXT: call <2 x double> asm inteldialect "maxpd $0, $1"
define <2 x double> @kept(<2 x double> %a, <2 x double> %b, ptr %p) {
  %r = call <2 x double> asm "addpd $1, $0", "=x,x,0"(<2 x double> %a, <2 x double> %b)
  %s = call <2 x double> asm "maxpd $1, $0", "=x,*m,0"(ptr elementtype(<2 x double>) %p, <2 x double> %r)
  %t = call <2 x double> asm inteldialect "maxpd $0, $1", "=x,x,0"(<2 x double> %a, <2 x double> %s)
  ret <2 x double> %t
}
