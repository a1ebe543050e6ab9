; What adgen-find-arrivals has said of queues is printed.
;
; RUN: %opt -passes=adgen-print-usage -disable-output %s | %filecheck %s

; CHECK: "reads_queue":[{"added_to":1,"orders":[1,2],"reads":true,"writes":false},{"added_to":null,"queued":"7:a.cu","reads":false,"writes":true},
define void @adgen_body_reads_queue(ptr readonly "adgen-orders"="1;2" %queue, ptr writeonly "adgen-queued"="7:a.cu" %next, ptr writeonly %y) {
  %i = load i32, ptr %queue
  store i32 %i, ptr %next
  store float 1.0, ptr %y
  ret void
}
