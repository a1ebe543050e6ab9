// Local arrays whose elements are moved by what the data says: sorted, shifted, swapped, pushed, linked and joined. Each
// function leaves a number that weighs its elements by their places.
#pragma once

#ifdef __CUDACC__
#define HD __device__ inline
#else
#define HD inline
#endif

template <class T, int N> HD T weighed(const T *a)
{
    T sum = 0;
    for (int k = 0; k < N; k++)
        sum += a[k] * a[(k + 1) % N] * T(k + 1);
    return sum;
}

template <class T, int N> HD void read(const T *x, T *a)
{
    for (int k = 0; k < N; k++)
        a[k] = x[k] * x[k] + x[k];
}

template <class T, int N> HD T insertion_while(const T *x)
{
    T a[N];
    read<T, N>(x, a);
    for (int p = 1; p < N; p++) {
        T v = a[p];
        int q = p - 1;
        while (q >= 0 && a[q] > v) {
            a[q + 1] = a[q];
            q--;
        }
        a[q + 1] = v;
    }
    return weighed<T, N>(a);
}

template <class T, int N> HD T insertion_any(const T *x) // of a number of elements that shows only when it runs
{
    T a[N];
    const int n = x[0] > T(9) ? 2 : N;
    for (int k = 0; k < N; k++)
        a[k] = x[k] * x[k] + x[k];
    for (int p = 1; p < n; p++) {
        T v = a[p];
        int q = p - 1;
        while (q >= 0 && a[q] > v) {
            a[q + 1] = a[q];
            q--;
        }
        a[q + 1] = v;
    }
    return weighed<T, N>(a);
}

template <class T, int N> HD T insertion_break(const T *x)
{
    T a[N];
    read<T, N>(x, a);
    for (int p = 1; p < N; p++) {
        T v = a[p];
        int q = p;
        for (; q > 0; q--) {
            if (a[q - 1] <= v)
                break;
            a[q] = a[q - 1];
        }
        a[q] = v;
    }
    return weighed<T, N>(a);
}

template <class T, int N> HD T top_three(const T *x) // keeps the three greatest, leaves where nothing is left to shift
{
    T best[3] = {T(-9), T(-8), T(-7)};
    for (int k = 0; k < N; k++) {
        T v = x[k] * x[k] + x[k];
        int at = 3;
        while (at > 0 && v > best[at - 1])
            at--;
        if (at == 3)
            continue;
        for (int q = 2; q > at; q--)
            best[q] = best[q - 1];
        best[at] = v;
    }
    return best[0] * best[1] - best[2] * best[0];
}

template <class T, int N> HD T selection(const T *x)
{
    T a[N];
    read<T, N>(x, a);
    for (int p = 0; p < N - 1; p++) {
        int least = p;
        for (int q = p + 1; q < N; q++)
            if (a[q] < a[least])
                least = q;
        T t = a[p];
        a[p] = a[least];
        a[least] = t;
    }
    return weighed<T, N>(a);
}

template <class T, int N> HD T bubble_until_sorted(const T *x)
{
    T a[N];
    read<T, N>(x, a);
    bool moved = true;
    for (int last = N - 1; moved; last--) {
        moved = false;
        for (int q = 0; q < last; q++)
            if (a[q] > a[q + 1]) {
                T t = a[q];
                a[q] = a[q + 1];
                a[q + 1] = t;
                moved = true;
            }
    }
    return weighed<T, N>(a);
}

template <class T, int N> HD T heap(const T *x)
{
    T a[N];
    read<T, N>(x, a);
    for (int first = N / 2 - 1, last = N - 1; last > 0;) {
        int root = first > 0 ? first : 0;
        if (first >= 0)
            first--;
        else {
            T t = a[0];
            a[0] = a[last];
            a[last--] = t;
        }
        T v = a[root];
        for (int child = 2 * root + 1; child <= last; child = 2 * root + 1) {
            if (child < last && a[child + 1] > a[child])
                child++;
            if (a[child] <= v)
                break;
            a[root] = a[child];
            root = child;
        }
        a[root] = v;
    }
    return weighed<T, N>(a);
}

template <class T, int N> HD T quick(const T *x)
{
    T a[N];
    read<T, N>(x, a);
    int from[N + 1], to[N + 1], open = 1;
    from[0] = 0;
    to[0] = N - 1;
    while (open) {
        int lo = from[--open], hi = to[open];
        if (lo >= hi)
            continue;
        T pivot = a[(lo + hi) / 2];
        int i = lo, j = hi;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i <= j) {
                T t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        from[open] = lo;
        to[open++] = j;
        from[open] = i;
        to[open++] = hi;
    }
    return weighed<T, N>(a);
}

template <class T, int N> HD T merge(const T *x) // between two arrays whose addresses change places
{
    T a[N], b[N], *in = a, *out = b;
    read<T, N>(x, a);
    for (int width = 1; width < N; width *= 2) {
        for (int lo = 0; lo < N; lo += 2 * width) {
            int mid = lo + width < N ? lo + width : N, hi = lo + 2 * width < N ? lo + 2 * width : N;
            for (int i = lo, j = mid, k = lo; k < hi; k++)
                out[k] = i < mid && (j >= hi || in[i] <= in[j]) ? in[i++] : in[j++];
        }
        T *t = in;
        in = out;
        out = t;
    }
    return weighed<T, N>(in);
}

template <class T, int N> HD T ring(const T *x) // the last three elements, by a place that goes round
{
    T kept[3] = {T(1), T(2), T(3)}, sum = 0;
    int at = 0;
    for (int k = 0; k < N; k++) {
        sum += kept[at] * x[k];
        kept[at] = x[k] * kept[(at + 1) % 3] + x[k];
        at = at == 2 ? 0 : at + 1;
    }
    return sum + kept[0] * kept[1] - kept[2];
}

template <class T, int N> HD T stack(const T *x) // reduces while the top is less than what comes
{
    T held[N + 1];
    int height = 0;
    T sum = 0;
    for (int k = 0; k < N; k++) {
        T v = x[k] * x[k] + x[k];
        while (height && held[height - 1] < v)
            sum += held[--height] * v;
        held[height++] = v;
    }
    while (height)
        sum = sum * T(0.5) + held[--height];
    return sum;
}

template <class T, int N> HD T linked(const T *x) // a sorted list by indices
{
    T value[N];
    int next[N], head = -1;
    for (int k = 0; k < N; k++) {
        value[k] = x[k] * x[k] + x[k];
        int before = -1, at = head;
        while (at >= 0 && value[at] < value[k]) {
            before = at;
            at = next[at];
        }
        next[k] = at;
        if (before < 0)
            head = k;
        else
            next[before] = k;
    }
    T sum = 0, last = 1;
    for (int at = head, place = 1; at >= 0; at = next[at], place++) {
        sum += value[at] * last * T(place);
        last = value[at];
    }
    return sum;
}

template <class T, int N> HD T joined(const T *x) // union-find: what is near is one set, whose members' numbers are summed
{
    int parent[N];
    T sum[N];
    for (int k = 0; k < N; k++) {
        parent[k] = k;
        sum[k] = x[k] * x[k] + x[k];
    }
    for (int k = 0; k < N; k++)
        for (int j = k + 1; j < N; j++) {
            T d = x[k] - x[j];
            if (d > T(0.4) || d < T(-0.4))
                continue;
            int a = k, b = j;
            while (parent[a] != a)
                a = parent[a];
            while (parent[b] != b)
                b = parent[b];
            if (a == b)
                continue;
            if (sum[a] < sum[b]) {
                int t = a;
                a = b;
                b = t;
            }
            parent[b] = a;
            sum[a] += sum[b] * T(1.25);
        }
    T result = 0;
    for (int k = 0; k < N; k++)
        if (parent[k] == k)
            result += sum[k] * sum[k] * T(k + 1);
    return result;
}

template <class T, int N> HD T rotated(const T *x) // shifted to the left as far as the data says
{
    T a[N];
    read<T, N>(x, a);
    for (int round = 0; round < N; round++) {
        T first = a[0];
        int q = 0;
        for (; q < N - 1 && a[q + 1] > first; q++)
            a[q] = a[q + 1];
        a[q] = first * (T(0.5) + a[q] * T(0.1));
    }
    return weighed<T, N>(a);
}

template <class T, int N> HD T found(const T *x) // returns from inside two loops
{
    T a[N];
    read<T, N>(x, a);
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++) {
            T t = a[k];
            a[k] = a[j] * T(0.9);
            a[j] = t;
            if (t > T(1.5))
                return weighed<T, N>(a);
        }
    return a[0] * a[N - 1];
}

template <class T, int N> HD T chosen(const T *x) // a pointer to one of several variables
{
    T low = x[0], high = x[N - 1], mid = x[N / 2];
    for (int k = 0; k < N; k++) {
        T v = x[k];
        T *p = v < T(-0.5) ? &low : v > T(0.5) ? &high : &mid;
        *p = *p * T(0.5) + v * v;
    }
    return low * mid + high * low + mid;
}

// What is compiled, of which size: F(name, type, size).
#define KERNELS(F)                                                                                                     \
    F(insertion_while, double, 7) F(insertion_any, float, 6) F(insertion_break, double, 5) F(top_three, double, 3)     \
    F(selection, float, 6) F(bubble_until_sorted, double, 4) F(heap, double, 7) F(quick, float, 5)                     \
    F(merge, double, 6) F(ring, double, 9) F(stack, double, 8) F(linked, double, 5) F(joined, double, 4)                 \
    F(rotated, double, 5) F(found, double, 4) F(chosen, float, 7)
#define FUNCTIONS(F)                                                                                                   \
    F(insertion_while, float, 4) F(insertion_any, double, 8) F(insertion_break, double, 6) F(top_three, double, 5)     \
    F(selection, double, 3) F(bubble_until_sorted, double, 6) F(heap, float, 5) F(quick, double, 7)                    \
    F(merge, double, 5) F(ring, float, 4) F(stack, double, 3) F(linked, double, 7) F(joined, double, 6)                  \
    F(rotated, double, 7) F(found, float, 3) F(chosen, double, 5)
