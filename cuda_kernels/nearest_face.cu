// The squared distance of each point to the nearest triangle of a surface, and which one that is.
struct Vec {
  float x, y, z;
};

__device__ Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

__device__ float to_edge(Vec p, Vec a, Vec b) {
  Vec edge = b - a, from = p - a;
  float t = fminf(fmaxf(dot(from, edge) / dot(edge, edge), 0.0f), 1.0f);
  Vec off = {from.x - t * edge.x, from.y - t * edge.y, from.z - t * edge.z};
  return dot(off, off);
}

__device__ float to_triangle(Vec p, Vec a, Vec b, Vec c) {
  Vec normal = cross(b - a, c - a);
  bool above = dot(cross(normal, b - a), p - a) > 0 && dot(cross(normal, c - b), p - b) > 0 &&
               dot(cross(normal, a - c), p - c) > 0;
  if (above) {
    float height = dot(normal, p - a);
    return height * height / dot(normal, normal);
  }
  return fminf(fminf(to_edge(p, a, b), to_edge(p, b, c)), to_edge(p, c, a));
}

__global__ void nearest_face(const Vec *__restrict__ point, const Vec *__restrict__ corner,
                             float *__restrict__ distance, int *__restrict__ face, int points, int faces) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= points)
    return;
  Vec p = point[i];
  float best = 3.0e38f;
  int at = -1;
  for (int f = 0; f < faces; ++f) {
    float d = to_triangle(p, corner[3 * f], corner[3 * f + 1], corner[3 * f + 2]);
    if (d < best) {
      best = d;
      at = f;
    }
  }
  distance[i] = best;
  face[i] = at;
}
