; What calls itself, or others in a circle, does not demand to be inlined; what is only called by it still does.
;
; RUN: %opt -passes='adgen-strip-inline-demands' -S %s | %filecheck %s

; CHECK: define double @odd({{.*}}) [[CALLED:#[0-9]+]]
define double @odd(double %x, i32 %n) alwaysinline nounwind {
  %less = sub i32 %n, 1
  %y = call double @even(double %x, i32 %less)
  ret double %y
}

; CHECK: define double @even({{.*}}) [[CALLED]]
define double @even(double %x, i32 %n) alwaysinline nounwind {
entry:
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %less = sub i32 %n, 1
  %square = call double @square(double %x)
  %y = call double @odd(double %square, i32 %less)
  ret double %y
end:
  ret double %x
}

; CHECK: define double @itself({{.*}}) [[CALLED]]
define double @itself(double %x) alwaysinline nounwind {
  %y = call double @itself(double %x)
  ret double %y
}

; CHECK: define double @square({{.*}}) [[INLINED:#[0-9]+]]
define double @square(double %x) alwaysinline nounwind {
  %y = fmul double %x, %x
  ret double %y
}

; CHECK: attributes [[CALLED]] = { nounwind }
; CHECK: attributes [[INLINED]] = { alwaysinline nounwind }
