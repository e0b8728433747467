package bindings

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// Whatever a program can name has a comment that begins with its name, or stands in a commented
// group.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	files := token.NewFileSet()
	ours := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
	packages, err := parser.ParseDir(files, os.Getenv("BH_GO_SOURCE"), ours, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	p := doc.New(packages["bulkhead"], "bulkhead", 0)
	if len(p.Types) < 10 || p.Doc == "" {
		t.Fatalf("%d types, %d bytes about the package", len(p.Types), len(p.Doc))
	}
	function := func(of string, f *doc.Func) {
		if !strings.HasPrefix(f.Doc, f.Name) && f.Name != "MarshalJSON" {
			t.Errorf("%s%s: %q", of, f.Name, f.Doc)
		}
	}
	values := func(all []*doc.Value) {
		for _, value := range all {
			if value.Doc == "" && ast.IsExported(value.Names[0]) {
				t.Errorf("%v has no comment", value.Names)
			}
		}
	}
	for _, f := range p.Funcs {
		function("", f)
	}
	values(p.Consts)
	values(p.Vars)
	for _, each := range p.Types {
		if !strings.HasPrefix(each.Doc, each.Name) && !strings.HasPrefix(each.Doc, "An "+each.Name) {
			t.Errorf("%s: %q", each.Name, each.Doc)
		}
		for _, f := range append(each.Funcs, each.Methods...) {
			function(each.Name+".", f)
		}
		values(each.Consts)
		values(each.Vars)
	}
}
