; Where there are many choices in a loop, each along less than a thousand ways, they are too many together: nine numbers
; that nine conditions in a row change. The fifth choices are kept then.
;
; RUN: %opt -passes=adgen-cache-phis -S %s | %filecheck %s

target triple = "nvptx64-nvidia-cuda"

; CHECK-LABEL: define void @adgen_body_many(
; CHECK:       join4:
; CHECK-NOT:     call
; CHECK:       join5:
; CHECK-NEXT:    %c5.0 = phi i32
; CHECK-NEXT:    %c5.1 = phi i32
; CHECK-NEXT:    %c5.2 = phi i32
; CHECK-NEXT:    %c5.3 = phi i32
; CHECK-NEXT:    %c5.4 = phi i32
; CHECK-NEXT:    %c5.5 = phi i32
; CHECK-NEXT:    %c5.6 = phi i32
; CHECK-NEXT:    %c5.7 = phi i32
; CHECK-NEXT:    %c5.8 = phi i32
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.0)
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.1)
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.2)
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.3)
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.4)
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.5)
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.6)
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.7)
; CHECK-DAG:     call i32 @adgen_hold_i32(i32 %c5.8)
; CHECK:       join6:
; CHECK-NOT:     adgen_hold
; CHECK:         ret void
define void @adgen_body_many(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join9 ]
  br label %join0

join0:
  %at1 = getelementptr float, ptr %x, i64 1
  %value1 = load float, ptr %at1
  %is1 = fcmp ogt float %value1, 0.0
  br i1 %is1, label %then1, label %join1

then1:
  %m1.0 = add i32 0, 1
  %m1.1 = add i32 0, 2
  %m1.2 = add i32 0, 3
  %m1.3 = add i32 0, 4
  %m1.4 = add i32 0, 5
  %m1.5 = add i32 0, 6
  %m1.6 = add i32 0, 7
  %m1.7 = add i32 0, 8
  %m1.8 = add i32 0, 9
  br label %join1

join1:
  %c1.0 = phi i32 [ 0, %join0 ], [ %m1.0, %then1 ]
  %c1.1 = phi i32 [ 0, %join0 ], [ %m1.1, %then1 ]
  %c1.2 = phi i32 [ 0, %join0 ], [ %m1.2, %then1 ]
  %c1.3 = phi i32 [ 0, %join0 ], [ %m1.3, %then1 ]
  %c1.4 = phi i32 [ 0, %join0 ], [ %m1.4, %then1 ]
  %c1.5 = phi i32 [ 0, %join0 ], [ %m1.5, %then1 ]
  %c1.6 = phi i32 [ 0, %join0 ], [ %m1.6, %then1 ]
  %c1.7 = phi i32 [ 0, %join0 ], [ %m1.7, %then1 ]
  %c1.8 = phi i32 [ 0, %join0 ], [ %m1.8, %then1 ]
  %at2 = getelementptr float, ptr %x, i64 2
  %value2 = load float, ptr %at2
  %is2 = fcmp ogt float %value2, 0.0
  br i1 %is2, label %then2, label %join2

then2:
  %m2.0 = add i32 %c1.0, 2
  %m2.1 = add i32 %c1.1, 3
  %m2.2 = add i32 %c1.2, 4
  %m2.3 = add i32 %c1.3, 5
  %m2.4 = add i32 %c1.4, 6
  %m2.5 = add i32 %c1.5, 7
  %m2.6 = add i32 %c1.6, 8
  %m2.7 = add i32 %c1.7, 9
  %m2.8 = add i32 %c1.8, 10
  br label %join2

join2:
  %c2.0 = phi i32 [ %c1.0, %join1 ], [ %m2.0, %then2 ]
  %c2.1 = phi i32 [ %c1.1, %join1 ], [ %m2.1, %then2 ]
  %c2.2 = phi i32 [ %c1.2, %join1 ], [ %m2.2, %then2 ]
  %c2.3 = phi i32 [ %c1.3, %join1 ], [ %m2.3, %then2 ]
  %c2.4 = phi i32 [ %c1.4, %join1 ], [ %m2.4, %then2 ]
  %c2.5 = phi i32 [ %c1.5, %join1 ], [ %m2.5, %then2 ]
  %c2.6 = phi i32 [ %c1.6, %join1 ], [ %m2.6, %then2 ]
  %c2.7 = phi i32 [ %c1.7, %join1 ], [ %m2.7, %then2 ]
  %c2.8 = phi i32 [ %c1.8, %join1 ], [ %m2.8, %then2 ]
  %at3 = getelementptr float, ptr %x, i64 3
  %value3 = load float, ptr %at3
  %is3 = fcmp ogt float %value3, 0.0
  br i1 %is3, label %then3, label %join3

then3:
  %m3.0 = add i32 %c2.0, 3
  %m3.1 = add i32 %c2.1, 4
  %m3.2 = add i32 %c2.2, 5
  %m3.3 = add i32 %c2.3, 6
  %m3.4 = add i32 %c2.4, 7
  %m3.5 = add i32 %c2.5, 8
  %m3.6 = add i32 %c2.6, 9
  %m3.7 = add i32 %c2.7, 10
  %m3.8 = add i32 %c2.8, 11
  br label %join3

join3:
  %c3.0 = phi i32 [ %c2.0, %join2 ], [ %m3.0, %then3 ]
  %c3.1 = phi i32 [ %c2.1, %join2 ], [ %m3.1, %then3 ]
  %c3.2 = phi i32 [ %c2.2, %join2 ], [ %m3.2, %then3 ]
  %c3.3 = phi i32 [ %c2.3, %join2 ], [ %m3.3, %then3 ]
  %c3.4 = phi i32 [ %c2.4, %join2 ], [ %m3.4, %then3 ]
  %c3.5 = phi i32 [ %c2.5, %join2 ], [ %m3.5, %then3 ]
  %c3.6 = phi i32 [ %c2.6, %join2 ], [ %m3.6, %then3 ]
  %c3.7 = phi i32 [ %c2.7, %join2 ], [ %m3.7, %then3 ]
  %c3.8 = phi i32 [ %c2.8, %join2 ], [ %m3.8, %then3 ]
  %at4 = getelementptr float, ptr %x, i64 4
  %value4 = load float, ptr %at4
  %is4 = fcmp ogt float %value4, 0.0
  br i1 %is4, label %then4, label %join4

then4:
  %m4.0 = add i32 %c3.0, 4
  %m4.1 = add i32 %c3.1, 5
  %m4.2 = add i32 %c3.2, 6
  %m4.3 = add i32 %c3.3, 7
  %m4.4 = add i32 %c3.4, 8
  %m4.5 = add i32 %c3.5, 9
  %m4.6 = add i32 %c3.6, 10
  %m4.7 = add i32 %c3.7, 11
  %m4.8 = add i32 %c3.8, 12
  br label %join4

join4:
  %c4.0 = phi i32 [ %c3.0, %join3 ], [ %m4.0, %then4 ]
  %c4.1 = phi i32 [ %c3.1, %join3 ], [ %m4.1, %then4 ]
  %c4.2 = phi i32 [ %c3.2, %join3 ], [ %m4.2, %then4 ]
  %c4.3 = phi i32 [ %c3.3, %join3 ], [ %m4.3, %then4 ]
  %c4.4 = phi i32 [ %c3.4, %join3 ], [ %m4.4, %then4 ]
  %c4.5 = phi i32 [ %c3.5, %join3 ], [ %m4.5, %then4 ]
  %c4.6 = phi i32 [ %c3.6, %join3 ], [ %m4.6, %then4 ]
  %c4.7 = phi i32 [ %c3.7, %join3 ], [ %m4.7, %then4 ]
  %c4.8 = phi i32 [ %c3.8, %join3 ], [ %m4.8, %then4 ]
  %at5 = getelementptr float, ptr %x, i64 5
  %value5 = load float, ptr %at5
  %is5 = fcmp ogt float %value5, 0.0
  br i1 %is5, label %then5, label %join5

then5:
  %m5.0 = add i32 %c4.0, 5
  %m5.1 = add i32 %c4.1, 6
  %m5.2 = add i32 %c4.2, 7
  %m5.3 = add i32 %c4.3, 8
  %m5.4 = add i32 %c4.4, 9
  %m5.5 = add i32 %c4.5, 10
  %m5.6 = add i32 %c4.6, 11
  %m5.7 = add i32 %c4.7, 12
  %m5.8 = add i32 %c4.8, 13
  br label %join5

join5:
  %c5.0 = phi i32 [ %c4.0, %join4 ], [ %m5.0, %then5 ]
  %c5.1 = phi i32 [ %c4.1, %join4 ], [ %m5.1, %then5 ]
  %c5.2 = phi i32 [ %c4.2, %join4 ], [ %m5.2, %then5 ]
  %c5.3 = phi i32 [ %c4.3, %join4 ], [ %m5.3, %then5 ]
  %c5.4 = phi i32 [ %c4.4, %join4 ], [ %m5.4, %then5 ]
  %c5.5 = phi i32 [ %c4.5, %join4 ], [ %m5.5, %then5 ]
  %c5.6 = phi i32 [ %c4.6, %join4 ], [ %m5.6, %then5 ]
  %c5.7 = phi i32 [ %c4.7, %join4 ], [ %m5.7, %then5 ]
  %c5.8 = phi i32 [ %c4.8, %join4 ], [ %m5.8, %then5 ]
  %at6 = getelementptr float, ptr %x, i64 6
  %value6 = load float, ptr %at6
  %is6 = fcmp ogt float %value6, 0.0
  br i1 %is6, label %then6, label %join6

then6:
  %m6.0 = add i32 %c5.0, 6
  %m6.1 = add i32 %c5.1, 7
  %m6.2 = add i32 %c5.2, 8
  %m6.3 = add i32 %c5.3, 9
  %m6.4 = add i32 %c5.4, 10
  %m6.5 = add i32 %c5.5, 11
  %m6.6 = add i32 %c5.6, 12
  %m6.7 = add i32 %c5.7, 13
  %m6.8 = add i32 %c5.8, 14
  br label %join6

join6:
  %c6.0 = phi i32 [ %c5.0, %join5 ], [ %m6.0, %then6 ]
  %c6.1 = phi i32 [ %c5.1, %join5 ], [ %m6.1, %then6 ]
  %c6.2 = phi i32 [ %c5.2, %join5 ], [ %m6.2, %then6 ]
  %c6.3 = phi i32 [ %c5.3, %join5 ], [ %m6.3, %then6 ]
  %c6.4 = phi i32 [ %c5.4, %join5 ], [ %m6.4, %then6 ]
  %c6.5 = phi i32 [ %c5.5, %join5 ], [ %m6.5, %then6 ]
  %c6.6 = phi i32 [ %c5.6, %join5 ], [ %m6.6, %then6 ]
  %c6.7 = phi i32 [ %c5.7, %join5 ], [ %m6.7, %then6 ]
  %c6.8 = phi i32 [ %c5.8, %join5 ], [ %m6.8, %then6 ]
  %at7 = getelementptr float, ptr %x, i64 7
  %value7 = load float, ptr %at7
  %is7 = fcmp ogt float %value7, 0.0
  br i1 %is7, label %then7, label %join7

then7:
  %m7.0 = add i32 %c6.0, 7
  %m7.1 = add i32 %c6.1, 8
  %m7.2 = add i32 %c6.2, 9
  %m7.3 = add i32 %c6.3, 10
  %m7.4 = add i32 %c6.4, 11
  %m7.5 = add i32 %c6.5, 12
  %m7.6 = add i32 %c6.6, 13
  %m7.7 = add i32 %c6.7, 14
  %m7.8 = add i32 %c6.8, 15
  br label %join7

join7:
  %c7.0 = phi i32 [ %c6.0, %join6 ], [ %m7.0, %then7 ]
  %c7.1 = phi i32 [ %c6.1, %join6 ], [ %m7.1, %then7 ]
  %c7.2 = phi i32 [ %c6.2, %join6 ], [ %m7.2, %then7 ]
  %c7.3 = phi i32 [ %c6.3, %join6 ], [ %m7.3, %then7 ]
  %c7.4 = phi i32 [ %c6.4, %join6 ], [ %m7.4, %then7 ]
  %c7.5 = phi i32 [ %c6.5, %join6 ], [ %m7.5, %then7 ]
  %c7.6 = phi i32 [ %c6.6, %join6 ], [ %m7.6, %then7 ]
  %c7.7 = phi i32 [ %c6.7, %join6 ], [ %m7.7, %then7 ]
  %c7.8 = phi i32 [ %c6.8, %join6 ], [ %m7.8, %then7 ]
  %at8 = getelementptr float, ptr %x, i64 8
  %value8 = load float, ptr %at8
  %is8 = fcmp ogt float %value8, 0.0
  br i1 %is8, label %then8, label %join8

then8:
  %m8.0 = add i32 %c7.0, 8
  %m8.1 = add i32 %c7.1, 9
  %m8.2 = add i32 %c7.2, 10
  %m8.3 = add i32 %c7.3, 11
  %m8.4 = add i32 %c7.4, 12
  %m8.5 = add i32 %c7.5, 13
  %m8.6 = add i32 %c7.6, 14
  %m8.7 = add i32 %c7.7, 15
  %m8.8 = add i32 %c7.8, 16
  br label %join8

join8:
  %c8.0 = phi i32 [ %c7.0, %join7 ], [ %m8.0, %then8 ]
  %c8.1 = phi i32 [ %c7.1, %join7 ], [ %m8.1, %then8 ]
  %c8.2 = phi i32 [ %c7.2, %join7 ], [ %m8.2, %then8 ]
  %c8.3 = phi i32 [ %c7.3, %join7 ], [ %m8.3, %then8 ]
  %c8.4 = phi i32 [ %c7.4, %join7 ], [ %m8.4, %then8 ]
  %c8.5 = phi i32 [ %c7.5, %join7 ], [ %m8.5, %then8 ]
  %c8.6 = phi i32 [ %c7.6, %join7 ], [ %m8.6, %then8 ]
  %c8.7 = phi i32 [ %c7.7, %join7 ], [ %m8.7, %then8 ]
  %c8.8 = phi i32 [ %c7.8, %join7 ], [ %m8.8, %then8 ]
  %at9 = getelementptr float, ptr %x, i64 9
  %value9 = load float, ptr %at9
  %is9 = fcmp ogt float %value9, 0.0
  br i1 %is9, label %then9, label %join9

then9:
  %m9.0 = add i32 %c8.0, 9
  %m9.1 = add i32 %c8.1, 10
  %m9.2 = add i32 %c8.2, 11
  %m9.3 = add i32 %c8.3, 12
  %m9.4 = add i32 %c8.4, 13
  %m9.5 = add i32 %c8.5, 14
  %m9.6 = add i32 %c8.6, 15
  %m9.7 = add i32 %c8.7, 16
  %m9.8 = add i32 %c8.8, 17
  br label %join9

join9:
  %c9.0 = phi i32 [ %c8.0, %join8 ], [ %m9.0, %then9 ]
  %c9.1 = phi i32 [ %c8.1, %join8 ], [ %m9.1, %then9 ]
  %c9.2 = phi i32 [ %c8.2, %join8 ], [ %m9.2, %then9 ]
  %c9.3 = phi i32 [ %c8.3, %join8 ], [ %m9.3, %then9 ]
  %c9.4 = phi i32 [ %c8.4, %join8 ], [ %m9.4, %then9 ]
  %c9.5 = phi i32 [ %c8.5, %join8 ], [ %m9.5, %then9 ]
  %c9.6 = phi i32 [ %c8.6, %join8 ], [ %m9.6, %then9 ]
  %c9.7 = phi i32 [ %c8.7, %join8 ], [ %m9.7, %then9 ]
  %c9.8 = phi i32 [ %c8.8, %join8 ], [ %m9.8, %then9 ]
  %out0 = getelementptr float, ptr %y, i32 %c9.0
  store float 1.0, ptr %out0
  %out1 = getelementptr float, ptr %y, i32 %c9.1
  store float 1.0, ptr %out1
  %out2 = getelementptr float, ptr %y, i32 %c9.2
  store float 1.0, ptr %out2
  %out3 = getelementptr float, ptr %y, i32 %c9.3
  store float 1.0, ptr %out3
  %out4 = getelementptr float, ptr %y, i32 %c9.4
  store float 1.0, ptr %out4
  %out5 = getelementptr float, ptr %y, i32 %c9.5
  store float 1.0, ptr %out5
  %out6 = getelementptr float, ptr %y, i32 %c9.6
  store float 1.0, ptr %out6
  %out7 = getelementptr float, ptr %y, i32 %c9.7
  store float 1.0, ptr %out7
  %out8 = getelementptr float, ptr %y, i32 %c9.8
  store float 1.0, ptr %out8
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit

exit:
  ret void
}
