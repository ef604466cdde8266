@@ posterior
static void posterior(int size, int count, const double *k, double prior, const double *functions,
                      const double *coefficient, const double *shrinkage,
                      double *mean, double *variance)
{
    for (int c = 0; c < count; c++)
        mean[c] = 0.0;
    *variance = prior;
    for (int t = 0; t < size; t++) {
        double f = 0.0;
        for (int j = 0; j <= t; j++)
            f += *functions++ * k[j];
        for (int c = 0; c < count; c++)
            mean[c] += coefficient[c * size + t] * f;
        *variance -= shrinkage[t] * f * f;
    }
    if (*variance < 0.0) /* by rounding */
        *variance = 0.0;
}
@@ squared_distance
static double squared_distance(const double *x, const double *z, const double *weights)
{
    double total = 0.0;
    for (int f = 0; f < FEATURES; f++)
        total += weights[f] * (x[f] - z[f]) * (x[f] - z[f]);
    return total;
}
@@ sine_distance
static double sine_distance(const double *x, const double *z, const double *weights, double rate)
{
    double total = 0.0;
    for (int f = 0; f < FEATURES; f++) {
        double s = sin(rate * (x[f] - z[f]));
        total += weights[f] * s * s;
    }
    return total;
}
@@ dot_product
static double dot_product(const double *x, const double *z)
{
    double total = 0.0;
    for (int f = 0; f < FEATURES; f++)
        total += x[f] * z[f];
    return total;
}
@@ along_lines
static void along_lines(const double *x, double *bent, int pieces, const double *image,
                        const double *knot, const double *slope, const double *low,
                        const double *width)
{
    for (int f = 0; f < FEATURES; f++) {
        bent[f] = image[f];
        for (int i = f * pieces; i < (f + 1) * pieces; i++)
            bent[f] += slope[i] * fmin(fmax(x[f] - knot[i], low[i]), width[i]);
    }
}
@@ combinations
static void combinations(const double *x, double *mixed, const double *matrix)
{
    for (int g = 0; g < FEATURES; g++) {
        mixed[g] = 0.0;
        for (int f = 0; f < FEATURES; f++)
            mixed[g] += x[f] * matrix[f * FEATURES + g];
    }
}
@@ erfcx
/* exp(x * x) * erfc(x) for x >= 0 */
static double scaled_erfc(double x)
{
    double t = x < 1e30 ? (x - $pole) / (x + $pole) : 1.0, b = 0.0, c = 0.0;
    for (int i = $degree; i > 0; i--) {
        double next = chebyshev[i] + 2.0 * t * b - c;
        c = b;
        b = next;
    }
    return (chebyshev[0] + t * b - c) / (1.0 + 2.0 * x);
}
@@ normal
/* log of the normal distribution function at -t, for t >= 0 */
static double log_normal_tail(double t)
{
    return log(0.5 * scaled_erfc(t / sqrt(2.0))) - 0.5 * t * t;
}
@@ logistic
/* log E[1 / (1 + exp(-f))] for f ~ N(-a, v), a >= 0 */
static double log_logistic_tail(double a, double v)
{
    double z = 0.0, s, first;
    v = fmax(v, 1e-30);
    s = sqrt(2.0 * v);
    first = (v - a) / s;
    for (int i = 0; i < $terms; i++) {
        double k = i + 1.0, lower = (k * v - a) / s, upper = ((k - 1.0) * v + a) / s;
        double scale = a > v ? 0.5 * exp(-first * first) : 0.5;
        double term = scale * scaled_erfc(fabs(lower));
        if (a > v && k * v < a)
            term = exp((k - 1.0) * ((k + 1.0) * v / 2.0 - a)) - term;
        z += alternating[i] * (term + scale * scaled_erfc(upper));
    }
    return log(z) + (a > v ? v / 2.0 - a : -a * (a / v) / 2.0);
}
@@ two_classes
/* log probabilities of the first and the second class */
static void link_two(double tail, int positive, double epsilon, double *logs)
{
    if (epsilon > 0.0)
        tail = log(epsilon + (1.0 - 2.0 * epsilon) * exp(tail));
    logs[positive] = log1p(-exp(tail));
    logs[1 - positive] = tail;
}
@@ softmax
static void softmax(int count, double *logs)
{
    double most = logs[0], total = 0.0;
    for (int c = 1; c < count; c++)
        most = fmax(most, logs[c]);
    for (int c = 0; c < count; c++)
        total += exp(logs[c] - most);
    for (int c = 0; c < count; c++)
        logs[c] -= most + log(total);
}
@@ many_classes
/* log of the normal distribution function, its first derivative, and minus its second */
static double log_normal(double z, double *h, double *bend)
{
    double t = fabs(z), ratio = 0.5 * scaled_erfc(t / sqrt(2.0)), gauss = exp(-0.5 * t * t);
    double logarithm = z < 0.0 ? log(ratio) - 0.5 * t * t : log1p(-gauss * ratio);
    *h = 0.3989422804014327 * (z < 0.0 ? 1.0 / ratio : gauss / (1.0 - gauss * ratio));
    *bend = fmin(fmax(*h * (*h + z), 0.0), 1.0);
    return logarithm;
}

static void link_many(int count, const double *mean, double variance, const double *bias,
                      double epsilon, double *logs)
{
    double width = sqrt(variance + 1.0);
    for (int own = 0; own < count; own++) {
        double u = 0.0, step = 1.0, curvature = 1.0, h, bend, most = -HUGE_VAL, total = 0.0;
        double at[$nodes];
        for (int round = 0; round < 100 && step > 1e-3 * (1.0 + u); round++) {
            double slope = -u;
            curvature = 1.0;
            for (int c = 0; c < count; c++)
                if (c != own) {
                    log_normal(u + (mean[own] + bias[own] - mean[c] - bias[c]) / width, &h, &bend);
                    slope += h;
                    curvature += bend;
                }
            step = slope / curvature;
            u += step;
        }
        for (int i = 0; i < $nodes; i++) {
            double t = u + nodes[i] / sqrt(curvature);
            at[i] = log_weights[i] - 0.5 * t * t;
            for (int c = 0; c < count; c++)
                if (c != own)
                    at[i] += log_normal(t + (mean[own] + bias[own] - mean[c] - bias[c]) / width,
                                        &h, &bend);
            most = fmax(most, at[i]);
        }
        for (int i = 0; i < $nodes; i++)
            total += exp(at[i] - most);
        logs[own] = fmin(most + log(total / sqrt(curvature)), 0.0);
        if (epsilon > 0.0)
            logs[own] = log(epsilon / count + (1.0 - epsilon) * exp(logs[own]));
    }
    softmax(count, logs);
}
@@ words
static int position(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}
@@ weekdays
static const char *const weekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
                                       "Saturday", "Sunday"};
@@ dates
static int digits(const char **text, int count)
{
    int number = 0;
    for (; count > 0; count--, (*text)++) {
        if (**text < '0' || **text > '9')
            return -1;
        number = 10 * number + (**text - '0');
    }
    return number;
}

/* Year, month, day, weekday (from Monday, 0) and hour of a date such as 2026-01-31 or
   2026-01-31T18:30:00; 0 if it is none. All are NAN if it is missing. */
static int calendar(const char *text, double *date)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const int shifts[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
    int year, month, day, leap, since, hour = 0, minute = 0, second = 0;
    for (int part = 0; part < 5; part++)
        date[part] = NAN;
    if (text == NULL)
        return 1;
    year = digits(&text, 4);
    if (year < 1 || *text++ != '-')
        return 0;
    month = digits(&text, 2);
    if (month < 1 || month > 12 || *text++ != '-')
        return 0;
    day = digits(&text, 2);
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day < 1 || day > lengths[month - 1] + (month == 2 && leap))
        return 0;
    if (*text != '\0') {
        if (*text != 'T' && *text != ' ')
            return 0;
        text++;
        hour = digits(&text, 2);
        if (hour < 0 || hour > 23 || *text++ != ':')
            return 0;
        minute = digits(&text, 2);
        if (*text == ':') {
            text++;
            second = digits(&text, 2);
        }
        if (minute < 0 || minute > 59 || second < 0 || second > 59)
            return 0;
        if (*text != '\0' && strchr(".Z+-", *text) == NULL)
            return 0;
    }
    since = month < 3 ? year - 1 : year;
    date[0] = year;
    date[1] = month;
    date[2] = day;
    date[3] = (since + since / 4 - since / 100 + since / 400 + shifts[month - 1] + day + 6) % 7;
    date[4] = hour + minute / 60.0 + second / 3600.0;
    return 1;
}
