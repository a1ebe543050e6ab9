; A number that is read from an array whose life begins in the loop is held where the next iteration gets it, also where
; it only decides what that gets, and where the loop leaves it behind. What was read from an array of all iterations is
; not.
;
; RUN: %opt -passes=adgen-hold-carried-values -S %s | %filecheck %s
; RUN: %opt -passes="function(lcssa),adgen-hold-carried-values" -S %s | %filecheck %s

; CHECK-LABEL: define void @carried(
; CHECK:         phi double [ 1.000000e+00, %entry ], [ [[HELD:%.*]], %loop ]
; CHECK:         %next = fmul double %one, %two
; CHECK-NEXT:    [[HELD]] = call double @{{.*}}hold{{.*}}(double %next)
; CHECK:         store double {{%.*}}, ptr %y
define void @carried(ptr %y, i64 %at, i64 %n) {
entry:
  %c = alloca [2 x double]
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %v = phi double [ 1.0, %entry ], [ %next, %loop ]
  call void @llvm.lifetime.start.p0(ptr %c)
  store double 0.9, ptr %c
  %second = getelementptr double, ptr %c, i64 1
  store double %v, ptr %second
  %to = getelementptr double, ptr %c, i64 %at
  store double %v, ptr %to
  %one = load double, ptr %c
  %two = load double, ptr %second
  %next = fmul double %one, %two
  call void @llvm.lifetime.end.p0(ptr %c)
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  store double %next, ptr %y
  ret void
}

; CHECK-LABEL: define void @decided(
; CHECK:         %best = phi float [ 1.000000e+00, %entry ], [ [[HELD:%.*]], %merge ]
; CHECK:         %kept = phi float
; CHECK-NEXT:    [[HELD]] = call float @{{.*}}hold{{.*}}(float %kept)
define void @decided(ptr %x, ptr %y, i64 %n) {
entry:
  %c = alloca float
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %merge ]
  %best = phi float [ 1.0, %entry ], [ %kept, %merge ]
  call void @llvm.lifetime.start.p0(ptr %c)
  call void @fill(ptr %c, float %best)
  %own = load float, ptr %c
  %larger = fcmp ogt float %own, 0.5
  br i1 %larger, label %then, label %merge
then:
  %grown = fmul float %best, 1.5
  br label %merge
merge:
  %kept = phi float [ %best, %loop ], [ %grown, %then ]
  call void @llvm.lifetime.end.p0(ptr %c)
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; CHECK-LABEL: define void @left(
; CHECK:         %sum = phi double [ 0.000000e+00, %entry ], [ %added, %loop ]
; CHECK:       end:
; CHECK-NEXT:    [[LAST:%.*]] = phi double [ %last, %loop ]
; CHECK-NEXT:    [[HELD:%.*]] = call double @{{.*}}hold{{.*}}(double [[LAST]])
; CHECK:         store double [[HELD]], ptr %y
define void @left(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %added, %loop ]
  %own = call noalias ptr @malloc(i64 16)
  store double 1.0, ptr %own
  %at = getelementptr double, ptr %own, i64 %i
  store double 2.0, ptr %at
  %last = load double, ptr %own
  call void @free(ptr %own)
  %added = fadd double %sum, 1.0
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  store double %last, ptr %y
  ret void
}

; No derivative asks for a sum.
; CHECK-LABEL: define void @summed(
; CHECK-NOT:     hold
; CHECK:       end:
define void @summed(ptr %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %added, %loop ]
  %own = call noalias ptr @malloc(i64 16)
  store double 1.0, ptr %own
  %at = getelementptr double, ptr %own, i64 %i
  store double 2.0, ptr %at
  %last = load double, ptr %own
  call void @free(ptr %own)
  %added = fadd double %sum, %last
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  store double %added, ptr %y
  ret void
}

; CHECK-LABEL: define void @of_all_iterations(
; CHECK-NOT:     hold
; CHECK:         ret void
define void @of_all_iterations(ptr %y, i64 %at, i64 %n) {
entry:
  %c = alloca [2 x double]
  store [2 x double] zeroinitializer, ptr %c
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %inc, %loop ]
  %v = phi double [ 1.0, %entry ], [ %next, %loop ]
  %to = getelementptr double, ptr %c, i64 %at
  store double %v, ptr %to
  %next = load double, ptr %c
  %inc = add i64 %i, 1
  %more = icmp slt i64 %inc, %n
  br i1 %more, label %loop, label %end
end:
  store double %next, ptr %y
  ret void
}

declare void @fill(ptr, float)
declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)
