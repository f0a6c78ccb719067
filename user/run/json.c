/* SPDX-License-Identifier: Apache-2.0 */
#include "run/json.h"

#include "base/own.h"
#include "base/text.h"

json_t *json_view(const char *bytes, size_t len)
{
	json_t *string = json_stringn(bytes, len);
	bool lossy;

	if (string)
		return string;

	own_str utf8 = text_to_utf8(bytes, len, &len, &lossy);

	return utf8 ? json_stringn_nocheck(utf8, len) : NULL;
}
