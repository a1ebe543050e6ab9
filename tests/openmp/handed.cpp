// Arguments that Python cannot make: an array of structs with pointers, and iterators. One such struct it can.
#include <functional>
#include <vector>

struct View {
  double *at;
  operator double &() const { return *at; }
};

double one(const View *view) { return view->at[0] * view->at[1]; }

double several(const View *views) { return views[0] * views[1]; }

double counted(const View *views, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += views[i] * views[i];
  return sum;
}

double wrapped(const std::reference_wrapper<double> *numbers) { return numbers[0] * numbers[3]; }

double between(std::vector<double>::iterator first, std::vector<double>::iterator last) {
  double sum = 0;
  for (; first != last; ++first)
    sum += *first * *first;
  return sum;
}
