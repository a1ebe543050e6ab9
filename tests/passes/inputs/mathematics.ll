target triple = "nvptx64-nvidia-cuda"

define double @adgen_math_powd(double %v) {
  %square = fmul double %v, %v
  %cube = fmul double %square, %v
  ret double %cube
}

define { double } @adgen_math_powd_reverse(double %v, double %cotangent) "target-cpu"="sm_75" {
  %square = fmul double %v, %v
  %slope = fmul double %square, 3.000000e+00
  %part = fmul double %slope, %cotangent
  %both = insertvalue { double } poison, double %part, 0
  ret { double } %both
}
