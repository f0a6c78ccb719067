# SPDX-License-Identifier: Apache-2.0
# btf-forms.awk: from BPF sources, one line "PROGRAM TYPE,TYPE,..." for each BPF_PROG: of a type only
# what btfcheck compares, "NAME*" for a struct, "void*" for another pointer, "int" for a scalar.

function form(arg) {
	if (arg !~ /\*/)
		return "int"
	if (arg !~ /(^| )(struct|union) /)
		return "void*"
	sub(/^(.* )?(struct|union) +/, "", arg)
	sub(/[ *].*/, "", arg)
	sub(/___.*/, "", arg)
	return arg "*"
}

{ text = text " " $0 }

END {
	while (match(text, /BPF_PROG[ ]*\([^)]*\)/)) {
		inside = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		sub(/^[^(]*\(/, "", inside)
		sub(/\)$/, "", inside)
		gsub(/[ \t]+/, " ", inside)
		n = split(inside, arg, / *, */)
		line = arg[1] " "
		for (i = 2; i <= n; i++)
			line = line (i > 2 ? "," : "") form(arg[i])
		print line (n == 1 ? "," : "")
	}
}
