; Of a loop whose iterations hand nothing on, the last one is left.
;
; RUN: %opt -passes='adgen-keep-last-iteration,function(simplifycfg)' -S %s | %filecheck %s

; CHECK-LABEL: define double @repeated(
; CHECK:       before:
; CHECK:         [[LAST:%.*]] = add i32 %n, -1
; CHECK-NOT:     phi i32
; CHECK:         %number = sitofp i32 [[LAST]] to double
; CHECK-NOT:     br i1 %done
; CHECK:         ret double
define double @repeated(i32 %n, ptr %x) {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %before, label %end
before:
  br label %loop
loop:
  %k = phi i32 [ 0, %before ], [ %next, %latch ]
  %v = load double, ptr %x
  %number = sitofp i32 %k to double
  %sum = fadd double %v, %number
  %positive = fcmp ogt double %sum, 0.0
  br i1 %positive, label %root, label %latch
root:
  %r = call double @llvm.sqrt.f64(double %sum)
  br label %latch
latch:
  %found = phi double [ %r, %root ], [ 0.0, %loop ]
  %next = add nuw nsw i32 %k, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %left, label %loop
left:
  br label %end
end:
  %result = phi double [ 0.0, %entry ], [ %found, %left ]
  ret double %result
}

; Not where a number is handed on, something is written, or an iteration may be the last one by what it computes.
; CHECK-LABEL: define double @carried(
; CHECK:         br i1 %done
define double @carried(i32 %n, double %v) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = phi double [ 1.0, %entry ], [ %b, %loop ]
  %b = fmul double %a, %v
  %next = add nuw nsw i32 %k, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret double %b
}

; CHECK-LABEL: define void @written(
; CHECK:         br i1 %done
define void @written(i32 %n, ptr %y) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %y, i32 %k
  store i32 %k, ptr %at
  %next = add nuw nsw i32 %k, 1
  %done = icmp eq i32 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}

; CHECK-LABEL: define double @sought(
; CHECK:         br i1 %done
define double @sought(ptr %x, double %v) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr double, ptr %x, i64 %k
  %w = load double, ptr %at
  %next = add nuw nsw i64 %k, 1
  %done = fcmp ogt double %w, %v
  br i1 %done, label %end, label %loop
end:
  ret double %w
}

declare double @llvm.sqrt.f64(double)
