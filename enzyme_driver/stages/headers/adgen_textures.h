// Texture and surface objects as arrays of the caller's: a fetch is ordinary code, whose adjoint adds to the texels and
// to the coordinates. Addressing and filtering are those of the CUDA Programming Guide ("Texture Fetching"), with
// weights of full precision where a GPU's texture units round them to 8 bits.
#pragma once

struct adgen_texture {
  const float *texels;           // rows one after another; null where texels are integers
  const unsigned char *integers; // their bytes
  int width, height, depth;   // in texels; layers are the axis behind those of one
  int row;                    // texels from one row to the next
  int channels;               // of a texel: 1, 2 or 4
  int bits;                   // of a channel that is an integer: 8, 16 or 32, negative where it has a sign
  int linear;                 // filter: 1 linear, 0 nearest
  int normalized;             // whether coordinates go from 0 to 1
  int address[3];             // cudaTextureAddressMode of each axis
  adgen_texture() = default;
  __host__ __device__ adgen_texture(int) : texels(nullptr), integers(nullptr) {}
  __host__ __device__ explicit operator bool() const { return texels || integers; }
  __host__ __device__ bool operator==(const adgen_texture &other) const {
    return texels == other.texels && integers == other.integers;
  }
  __host__ __device__ bool operator!=(const adgen_texture &other) const { return !(*this == other); }
};

struct adgen_surface {
  float *texels;
  unsigned char *integers;
  int width, height, depth;
  int row;
  int channels;
  adgen_surface() = default;
  __host__ __device__ adgen_surface(int) : texels(nullptr), integers(nullptr) {}
  __host__ __device__ explicit operator bool() const { return texels || integers; }
};

namespace adgen_textures {
template <class T> struct parts { // a vector
  using number = decltype(T::x);
  static constexpr int count = sizeof(T) / sizeof(number);
  static __device__ inline number get(const T &value, int k) {
    return k == 0 ? value.x : reinterpret_cast<const number *>(&value)[k];
  }
  static __device__ inline void set(T &value, int k, number part) { reinterpret_cast<number *>(&value)[k] = part; }
};
template <class T> struct scalar {
  using number = T;
  static constexpr int count = 1;
  static __device__ inline T get(const T &value, int) { return value; }
  static __device__ inline void set(T &value, int, T part) { value = part; }
};
#define ADGEN_SCALAR(TYPE) \
  template <> struct parts<TYPE> : scalar<TYPE> {};
ADGEN_SCALAR(char)
ADGEN_SCALAR(signed char)
ADGEN_SCALAR(unsigned char)
ADGEN_SCALAR(short)
ADGEN_SCALAR(unsigned short)
ADGEN_SCALAR(int)
ADGEN_SCALAR(unsigned int)
ADGEN_SCALAR(float)
#undef ADGEN_SCALAR

// The texel that an index beside the edge stands for; -1 for one that reads as zero.
static __device__ inline int place(int index, int size, int mode, bool normalized) {
  if (index >= 0 && index < size)
    return index;
  if (mode == cudaAddressModeBorder)
    return -1;
  if (mode == cudaAddressModeClamp || !normalized)
    return index < 0 ? 0 : size - 1;
  int period = mode == cudaAddressModeMirror ? 2 * size : size;
  int within = index % period;
  within += within < 0 ? period : 0;
  return within < size ? within : period - 1 - within;
}

static __device__ inline long long integer(const unsigned char *integers, int bits, long long at) {
  switch (bits) {
  case 8:
    return integers[at];
  case -8:
    return reinterpret_cast<const signed char *>(integers)[at];
  case 16:
    return reinterpret_cast<const unsigned short *>(integers)[at];
  case -16:
    return reinterpret_cast<const short *>(integers)[at];
  case 32:
    return reinterpret_cast<const unsigned int *>(integers)[at];
  default:
    return reinterpret_cast<const int *>(integers)[at];
  }
}

static __device__ inline void read(const adgen_texture &from, long long at, float *to) {
  if (from.texels) {
    *to = from.texels[at];
    return;
  }
  int size = from.bits < 0 ? -from.bits : from.bits;
  float most = static_cast<float>((1ll << (from.bits < 0 ? size - 1 : size)) - 1);
  *to = fmaxf(static_cast<float>(integer(from.integers, from.bits, at)) / most, -1.0f);
}
template <class N> static __device__ inline void read(const adgen_texture &from, long long at, N *to) {
  *to = static_cast<N>(integer(from.integers, from.bits, at));
}

// One texel, zero where an index is -1.
template <class T> static __device__ inline T texel(const adgen_texture &from, int x, int y, int z) {
  using number = typename parts<T>::number;
  T found;
  long long at = ((static_cast<long long>(z) * from.height + y) * from.row + x) * from.channels;
#pragma unroll
  for (int k = 0; k < parts<T>::count; k++) {
    number part = 0;
    if (x >= 0 && y >= 0 && z >= 0 && k < from.channels)
      read(from, at + k, &part);
    parts<T>::set(found, k, part);
  }
  return found;
}

// A coordinate as the texel below it and the share of the one above.
struct Between {
  int low, high;
  float share;
};
static __device__ inline Between between(const adgen_texture &from, float coordinate, int size, int axis) {
  float along = from.normalized ? coordinate * static_cast<float>(size) : coordinate;
  along -= from.linear ? 0.5f : 0.0f;
  float low = floorf(along);
  int index = static_cast<int>(low), mode = from.address[axis];
  return {place(index, size, mode, from.normalized), place(index + 1, size, mode, from.normalized), along - low};
}

template <class T> static __device__ inline T mixed(const T &low, const T &high, float share) {
  T found;
#pragma unroll
  for (int k = 0; k < parts<T>::count; k++)
    parts<T>::set(found, k, (1.0f - share) * parts<T>::get(low, k) + share * parts<T>::get(high, k));
  return found;
}

template <class T> static __device__ inline T along_x(const adgen_texture &from, const Between &x, int y, int z) {
  T low = texel<T>(from, x.low, y, z);
  return from.linear ? mixed(low, texel<T>(from, x.high, y, z), x.share) : low;
}
template <class T>
static __device__ inline T along_xy(const adgen_texture &from, const Between &x, const Between &y, int z) {
  T low = along_x<T>(from, x, y.low, z);
  return from.linear ? mixed(low, along_x<T>(from, x, y.high, z), y.share) : low;
}
static __device__ inline int layer(int asked, int count) { return place(asked, count, cudaAddressModeClamp, false); }
} // namespace adgen_textures

template <class T> static __device__ inline T tex1Dfetch(adgen_texture from, int x) {
  return adgen_textures::texel<T>(from, x < from.width ? x : -1, 0, 0);
}
template <class T> static __device__ inline T tex1D(adgen_texture from, float x) {
  return adgen_textures::along_x<T>(from, adgen_textures::between(from, x, from.width, 0), 0, 0);
}
template <class T> static __device__ inline T tex1DLayered(adgen_texture from, float x, int layer) {
  auto along = adgen_textures::between(from, x, from.width, 0);
  return adgen_textures::along_x<T>(from, along, adgen_textures::layer(layer, from.height), 0);
}
template <class T> static __device__ inline T tex2DLayered(adgen_texture from, float x, float y, int layer) {
  using namespace adgen_textures;
  return along_xy<T>(from, between(from, x, from.width, 0), between(from, y, from.height, 1),
                     adgen_textures::layer(layer, from.depth));
}
template <class T> static __device__ inline T tex2D(adgen_texture from, float x, float y) {
  using namespace adgen_textures;
  return along_xy<T>(from, between(from, x, from.width, 0), between(from, y, from.height, 1), 0);
}
template <class T> static __device__ inline T tex3D(adgen_texture from, float x, float y, float z) {
  using namespace adgen_textures;
  Between along = between(from, x, from.width, 0), across = between(from, y, from.height, 1);
  Between deep = between(from, z, from.depth, 2);
  T low = along_xy<T>(from, along, across, deep.low);
  return from.linear ? mixed(low, along_xy<T>(from, along, across, deep.high), deep.share) : low;
}

namespace adgen_textures {
// x is in bytes. Where reads beside the edge are to end the launch, correct programs make none.
template <class T, class Surface>
static __device__ inline long long start(const Surface &of, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  int texel = x / static_cast<int>(sizeof(T));
  if (mode == cudaBoundaryModeClamp) {
    texel = place(texel, of.width, cudaAddressModeClamp, false);
    y = place(y, of.height, cudaAddressModeClamp, false);
    z = place(z, of.depth, cudaAddressModeClamp, false);
  }
  if (mode == cudaBoundaryModeZero &&
      (texel < 0 || texel >= of.width || y < 0 || y >= of.height || z < 0 || z >= of.depth))
    return -1;
  return ((static_cast<long long>(z) * of.height + y) * of.row + texel) * of.channels;
}
static __device__ inline float *texels(const adgen_surface &of, float *) { return of.texels; }
template <class N> static __device__ inline N *texels(const adgen_surface &of, N *) {
  return reinterpret_cast<N *>(of.integers);
}
template <class T> static __device__ inline T surface_read(const adgen_surface &from, long long at) {
  using number = typename parts<T>::number;
  T found;
#pragma unroll
  for (int k = 0; k < parts<T>::count; k++)
    parts<T>::set(found, k, at < 0 ? number(0) : texels(from, static_cast<number *>(nullptr))[at + k]);
  return found;
}
template <class T> static __device__ inline void surface_write(const adgen_surface &to, long long at, const T &value) {
  using number = typename parts<T>::number;
#pragma unroll
  for (int k = 0; k < parts<T>::count; k++)
    if (at >= 0)
      texels(to, static_cast<number *>(nullptr))[at + k] = parts<T>::get(value, k);
}
} // namespace adgen_textures

#define ADGEN_SURFACE(READ, WRITE, Y, Z, ...) \
  template <class T> \
  static __device__ inline T READ(adgen_surface from, int x, ##__VA_ARGS__, \
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    return adgen_textures::surface_read<T>(from, adgen_textures::start<T>(from, x, Y, Z, mode)); \
  } \
  template <class T> \
  static __device__ inline void READ(T *to, adgen_surface from, int x, ##__VA_ARGS__, \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    *to = adgen_textures::surface_read<T>(from, adgen_textures::start<T>(from, x, Y, Z, mode)); \
  } \
  template <class T> \
  static __device__ inline void WRITE(T value, adgen_surface to, int x, ##__VA_ARGS__, \
                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    adgen_textures::surface_write<T>(to, adgen_textures::start<T>(to, x, Y, Z, mode), value); \
  }
ADGEN_SURFACE(surf1Dread, surf1Dwrite, 0, 0)
ADGEN_SURFACE(surf2Dread, surf2Dwrite, y, 0, int y)
ADGEN_SURFACE(surf3Dread, surf3Dwrite, y, z, int y, int z)
ADGEN_SURFACE(surf1DLayeredread, surf1DLayeredwrite, layer, 0, int layer)
ADGEN_SURFACE(surf2DLayeredread, surf2DLayeredwrite, y, layer, int y, int layer)
#undef ADGEN_SURFACE

#define ADGEN_FETCH(NAME) \
  template <class T, class... Coordinates> \
  static __device__ inline void NAME(T *to, adgen_texture from, Coordinates... at) { \
    *to = NAME<T>(from, at...); \
  }
ADGEN_FETCH(tex1Dfetch)
ADGEN_FETCH(tex1D)
ADGEN_FETCH(tex1DLayered)
ADGEN_FETCH(tex2D)
ADGEN_FETCH(tex2DLayered)
ADGEN_FETCH(tex3D)
#undef ADGEN_FETCH

#define ADGEN_MISSING(NAME) \
  template <class T, class... Rest> static __device__ inline T NAME(adgen_texture, Rest...) { \
    static_assert(sizeof(T) == 0, "adgen reads textures of one to three dimensions, also in layers: no mipmaps, no " \
                                  "cubemaps, no gathers"); \
    return T(); \
  }
ADGEN_MISSING(tex1DLod)
ADGEN_MISSING(tex2DLod)
ADGEN_MISSING(tex3DLod)
ADGEN_MISSING(tex1DGrad)
ADGEN_MISSING(tex2DGrad)
ADGEN_MISSING(tex3DGrad)
ADGEN_MISSING(tex2Dgather)
ADGEN_MISSING(texCubemap)
ADGEN_MISSING(texCubemapLayered)
ADGEN_MISSING(texCubemapLod)
#undef ADGEN_MISSING

// What host code makes them of stays with the host.
cudaError_t cudaCreateTextureObject(adgen_texture *, const cudaResourceDesc *, const cudaTextureDesc *,
                                    const cudaResourceViewDesc *);
cudaError_t cudaDestroyTextureObject(adgen_texture);
cudaError_t cudaCreateSurfaceObject(adgen_surface *, const cudaResourceDesc *);
cudaError_t cudaDestroySurfaceObject(adgen_surface);

#define cudaTextureObject_t adgen_texture
#define cudaSurfaceObject_t adgen_surface
