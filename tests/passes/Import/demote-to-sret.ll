; A function whose address is taken and that returns a struct gets a second form that stores it, and calls through pointers call that. Calls by name stay, and so do functions that
; return one number. What another file defines is called by a function of ours.
;
; RUN: %opt -passes=adgen-demote-to-sret,verify -S %s | %filecheck %s

%pair = type { double, { i32, float } }

; CHECK: @table = constant [4 x ptr] [ptr @local.stored, ptr @elsewhere.stored, ptr @number, ptr @both.stored]
@table = constant [4 x ptr] [ptr @local, ptr @elsewhere, ptr @number, ptr @both]

; What only keeps a function in the module calls nothing.
; CHECK: @llvm.compiler.used = appending global [1 x ptr] [ptr @kept]
@llvm.compiler.used = appending global [1 x ptr] [ptr @kept], section "llvm.metadata"

; CHECK: define internal { double, double } @local(
define internal { double, double } @local(double %x, ptr readonly %p) {
  %y = load double, ptr %p
  %first = insertvalue { double, double } poison, double %x, 0
  %both = insertvalue { double, double } %first, double %y, 1
  ret { double, double } %both
}

; CHECK-LABEL: define void @through_a_pointer(
; CHECK:         %stored = alloca { double, double }
; CHECK:         call void %f(double %x, ptr readonly %p, ptr noalias %stored)
; CHECK-NEXT:    %[[FIRST:.*]] = getelementptr inbounds { double, double }, ptr %stored, i32 0, i32 0
; CHECK-NEXT:    load double, ptr %[[FIRST]]
; CHECK:         call { double, double } @local(double %x, ptr %p)
; CHECK:         call double %f(double %x)
define void @through_a_pointer(ptr %f, double %x, ptr %p) {
  %both = call { double, double } %f(double %x, ptr readonly %p)
  %y = extractvalue { double, double } %both, 1
  store double %y, ptr %p
  %named = call { double, double } @local(double %x, ptr %p)
  %number = call double %f(double %x)
  ret void
}

; CHECK-LABEL: define i32 @may_throw(
; CHECK:         invoke void %f(double %x, ptr noalias %stored)
; CHECK-NEXT:      to label %[[NEXT:.*]] unwind label %failed
; CHECK:       [[NEXT]]:
; CHECK:         getelementptr inbounds %pair, ptr %stored, i32 0, i32 1
; CHECK-NEXT:    getelementptr inbounds { i32, float },
; CHECK-NEXT:    load i32
; CHECK:       join:
; CHECK-NEXT:    phi %pair
define i32 @may_throw(ptr %f, double %x, i1 %c, %pair %given) personality ptr @personality {
  br i1 %c, label %call, label %join
call:
  %made = invoke %pair %f(double %x) to label %join unwind label %failed
failed:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad
join:
  %pair = phi %pair [ %made, %call ], [ %given, %0 ]
  %i = extractvalue %pair %pair, 1, 0
  ret i32 %i
}

; CHECK-LABEL: define internal void @local.stored(double %0, ptr readonly %1, ptr noalias %2)
; CHECK:         load double, ptr %1
; CHECK-NOT:     call
; CHECK:         store double
; CHECK:         store double
; CHECK:         ret void
; CHECK-LABEL: define internal void @elsewhere.stored(double %0, ptr noalias %1)
; CHECK:         call { double, double } @elsewhere(double %0)

declare { double, double } @elsewhere(double)
declare { double, double } @kept(double)
declare double @number(double)
declare %pair @both(double)
declare i32 @personality(...)
